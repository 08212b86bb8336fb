-- Returns an item that could not be sent, to be sent later.
-- ARGV
--   1 thread id
--   2 the item
--   3 owner of the claim
--   4 delay in ms
--   5 '1' if the attempt may have sent it
-- Returns
--   {'later'}
--   {'stale'}              also for the same call again
local item, owner, delay, may_be_sent = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local claim = 'claim|' .. item

if redis.call('HGET', K.rows, claim) ~= owner then return { 'stale' } end -- guard: outbox-retry-stale

redis.call('HDEL', K.rows, claim)
if may_be_sent == '1' then redis.call('HINCRBY', K.rows, 'tries|' .. item, 1) end
redis.call('ZADD', K.outbox, int(now + delay), item)
report_due('outbox', now + delay)
return { 'later' }
