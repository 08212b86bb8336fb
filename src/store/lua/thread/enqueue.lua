-- Adds a message to a thread's inbox, once.
-- ARGV
--   1 thread id
--   2 id of the item
--   3 the item (JSON)
--   4 '1' if only an existing thread takes it
--   5 the item to add instead while the thread is at work (JSON), or ''
-- Returns
--   {'enqueued', open requests, place in the inbox, '1' if a turn has not ended}
--   {'duplicate'}          also for the same call again
--   {'unknown-thread'}
--- include thread
--- include wake
local item_id, item, only_known, item_at_work = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if only_known == '1' and redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: enqueue-unknown
if redis.call('ZADD', K.seen, 'NX', NOW, item_id) == 0 then return { 'duplicate' } end -- guard: enqueue-duplicate

-- A thread is at work from the first unread message to the end of the turn that leaves nothing open.
local open = tonumber(thread.open or '0')
local busy = thread.token and thread.committed ~= thread.token
local at_work = busy or open > 0 or redis.call('EXISTS', K.inbox, K.round) > 0
if at_work and item_at_work ~= '' then item = item_at_work end -- guard: enqueue-at-work

local place = redis.call('RPUSH', K.inbox, item)
if thread.v then
  redis.call('ZREMRANGEBYRANK', K.seen, 0, -1001)
  redis.call('ZREM', K.timers, 'retire|' .. thread_id)
else
  thread.v = '2'
  redis.call('HSET', K.thread, 'v', thread.v)
end
if open == 0 then wake_by(NOW) end
return { 'enqueued', int(open), int(place), busy and '1' or '0' }
