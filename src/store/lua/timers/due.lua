-- Finds work that has been due for a while, by Redis's clock. Writes nothing.
-- ARGV
--   1 ''
--   2 how long it must have been due, in ms
--   3 most items of either
-- Returns
--   {'due', work by its name, outbox items}
local overdue, most = now - tonumber(ARGV[2]), ARGV[3]

local function upto(key)
  return redis.call('ZRANGEBYSCORE', key, '-inf', int(overdue), 'LIMIT', 0, most)
end
return { 'due', upto(K.timers), upto(K.outbox) }
