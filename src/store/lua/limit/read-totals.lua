-- Reads how much of limits is used, by Redis's clock. Writes nothing. Each limit has a key of its own behind the named ones.
-- ARGV
--   1 ''
--   2 window of each limit in ms
-- Returns
--   {'totals', then of each limit: how many actions, the sum of their amounts}
local reply = { 'totals' }
for i = FIRST_REQUEST, #KEYS do
  local window, count, sum = tonumber(ARGV[i - FIRST_REQUEST + 2]), 0, 0
  for _, value in pairs(read_all(KEYS[i])) do
    local at, amount = string.match(value, '^(%S+) (%S+)')
    if tonumber(at) + window > now then
      count = count + 1
      sum = sum + tonumber(amount)
    end
  end
  append(reply, { int(count), string.format('%.17g', sum) })
end
return reply
