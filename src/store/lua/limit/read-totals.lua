-- Reads how much of limits is used, by Redis's clock. Writes nothing.
-- ARGV
--   1 ''
--   2 name and window in ms of each limit
-- Returns
--   {'totals', then of each limit: how many actions, the sum of their amounts}
--- include limits
local reply = { 'totals' }
for i = 2, #ARGV, 2 do
  local limit = read_limit(ARGV[i], tonumber(ARGV[i + 1]))
  append(reply, { int(limit.count), amount_text(limit.sum) })
end
return reply
