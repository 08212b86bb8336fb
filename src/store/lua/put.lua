-- Puts what somebody said into a thread's inbox, once.
-- ARGV: thread, the item's own id, the item, '1' if only a thread that is there already takes it.
-- Result: {'put', waiting requests, place in the inbox, '1' if a turn is going on}, {'duplicate'} or {'unknown-thread'}; the
-- same call again is a duplicate.
--- include thread
--- include wake
local item_id, item, only_known = ARGV[2], ARGV[3], ARGV[4]

if only_known == '1' and redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: put-unknown
if redis.call('ZADD', K.seen, 'NX', NOW, item_id) == 0 then return { 'duplicate' } end -- guard: put-duplicate

redis.call('ZREMRANGEBYRANK', K.seen, 0, -1001)
local place = redis.call('RPUSH', K.inbox, item)
if not thread.v then
  thread.v = '1'
  redis.call('HSET', K.thread, 'v', thread.v)
end
local open = tonumber(thread.open or '0')
local busy = thread.owner and tonumber(thread.lease_until) > now
if open == 0 then wake_by(NOW) end
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
return { 'put', int(open), int(place), busy and '1' or '0' }
