-- Removes an ended request that has been kept long enough. One that its thread has not read yet is kept longer.
-- ARGV
--   1 thread id
--   2 request id
--   3 '1' to remove it before its time
-- Returns
--   {'purged'}
--   {'not-due'}
--   {'not-settled', state}
--   {'unknown'}            also for the same call again
--- include request
if not request.state then -- guard: purge-unknown
  forget('purge')
  return { 'unknown' }
end
local settled_at = request.settled_at
if not settled_at then return { 'not-settled', request.state } end -- guard: purge-settled
if ARGV[3] ~= '1' and now < settled_at + request.keep then return { 'not-due' } end -- guard: purge-due
if redis.call('HEXISTS', K.round, interrupt_of(request_id)) == 1 then -- guard: purge-unread
  set_timer('purge', now + request.keep)
  return { 'not-due' }
end

for _, person in ipairs(requesters()) do
  redis.call('ZREM', K.asked, index_member(person, request.created))
  redis.call('ZREM', K.decided, index_member(person, settled_at))
end
if request.by and request.by ~= '' then redis.call('ZREM', K.decided, index_member(request.by, settled_at)) end
for _, view in ipairs(words(request.views)) do
  local item = 'view|' .. request_id .. '|' .. view
  redis.call('ZREM', K.outbox, item)
  redis.call('HDEL', K.rows, 'claim|' .. item, 'tries|' .. item, 'since|' .. item)
end
redis.call('DEL', K.request, K.record)
forget('purge', 'undo')
return { 'purged' }
