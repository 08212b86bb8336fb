-- Counts an action against all of its limits before it starts, or against none of them. Each limit has a key of its own behind the named
-- ones: a hash of actions, each with its time, its amount and the attempts that hold it.
-- ARGV
--   1 ''
--   2 action
--   3 attempt
--   4 number of limits, then of each: amount, most or '' to count only, window in ms
-- Returns
--   {'reserved'}           also for another attempt of an action that counts already
--   {'over', number of the limit, how much of it is used}
local action, attempt, limits = ARGV[2], ARGV[3], tonumber(ARGV[4])

local function amount_text(value)
  return string.format('%.17g', value)
end

-- The attempts that hold an action, with this one; the same call again changes nothing.
local function held_by(holders)
  for _, other in ipairs(words(holders)) do
    if other == attempt then return holders end
  end
  return (holders or '') .. ' ' .. attempt
end

local writes = {}
for i = 1, limits do
  local key = KEYS[FIRST_REQUEST + i - 1]
  local amount, most, window = tonumber(ARGV[2 + 3 * i]), ARGV[3 + 3 * i], tonumber(ARGV[4 + 3 * i])
  local used, holders, old = 0, nil, {}
  for other, value in pairs(read_all(key)) do
    local at, counted, attempts = string.match(value, '^(%S+) (%S+) (.*)$')
    local is_over = false
    if tonumber(at) + window <= now then is_over = true end -- guard: reserve-window
    if is_over then old[#old + 1] = other
    elseif other == action then holders = attempts
    else used = used + tonumber(counted) end
  end
  if most ~= '' and not holders and used + amount > tonumber(most) then -- guard: reserve-over
    return { 'over', int(i), amount_text(used) }
  end
  writes[i] = { key, old, table.concat({ NOW, amount_text(amount), held_by(holders) }, ' '), window }
end

for _, write in ipairs(writes) do
  change('HDEL', write[1], write[2])
  redis.call('HSET', write[1], action, write[3])
  redis.call('PEXPIRE', write[1], int(write[4]))
end
return { 'reserved' }
