-- Puts what somebody said into a thread's inbox, once.
-- ARGV: thread, the item's own id, the item.
-- Result: {'put', waiting requests, place in the inbox}, or {'duplicate'}; the same call again is a duplicate.
local item_id, item = ARGV[2], ARGV[3]

if redis.call('ZSCORE', K.seen, item_id) then return { 'duplicate' } end -- guard: put-duplicate

redis.call('ZADD', K.seen, int(now), item_id)
redis.call('ZREMRANGEBYRANK', K.seen, 0, -1001)
redis.call('HSETNX', K.thread, 'v', '1')
local place = redis.call('RPUSH', K.inbox, item)
local open = tonumber(redis.call('HGET', K.thread, 'open') or '0')
if open == 0 then redis.call('ZADD', K.wake, 'NX', int(now), thread_id) end
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
return { 'put', int(open), int(place) }
