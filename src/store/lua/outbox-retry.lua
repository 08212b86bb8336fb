-- Puts an item that could not be sent back, to be tried again later.
-- ARGV: thread, the item, who had taken it, how much later in ms.
-- Result: {'later'} or {'stale'}; the same call again is 'stale'.
local item, owner, delay = ARGV[2], ARGV[3], tonumber(ARGV[4])
local claim = 'claim|' .. item

if redis.call('HGET', K.rows, claim) ~= owner then return { 'stale' } end -- guard: outbox-retry-stale

redis.call('HDEL', K.rows, claim)
redis.call('HINCRBY', K.rows, 'tries|' .. item, 1)
redis.call('ZADD', K.outbox, int(now + delay), item)
return { 'later' }
