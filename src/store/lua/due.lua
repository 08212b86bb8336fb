-- Finds what is due in a shard and has been for a while, by Redis's clock. It writes nothing.
-- ARGV: '', how long it must have been due in ms, how many of each at the most.
-- Result: {'due', threads, runs, timers, outbox items}.
local overdue, most = now - tonumber(ARGV[2]), ARGV[3]

local function upto(key)
  return redis.call('ZRANGEBYSCORE', key, '-inf', int(overdue), 'LIMIT', 0, most)
end
return { 'due', upto(K.wake), upto(K.run), upto(K.timers), upto(K.outbox) }
