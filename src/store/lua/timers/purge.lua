-- Removes an ended request that has been kept long enough. One that its thread has not read yet, or whose end nobody has seen to, is kept
-- longer, and so is one that another has taken the place of, so that nobody asks for it again. A plan takes its steps with it, because a
-- thread reads them together.
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
if request.plan then return { 'not-due' } end -- guard: purge-step
if ARGV[3] ~= '1' and now < settled_at + request.keep then return { 'not-due' } end -- guard: purge-due
local follows, is_replaced = redis.call('ZSCORE', K.timers, 'ended|' .. request_id), false
if request.again and ARGV[3] ~= '1' then -- guard: purge-again
  is_replaced = redis.call('EXISTS', string.sub(K.ask, 1, #K.ask - #request_id) .. request.again) == 1
end
if follows or is_replaced then -- guard: purge-ended
  set_timer('purge', now + request.keep)
  return { 'not-due' }
end
if redis.call('HEXISTS', K.round, interrupt_of(request_id)) == 1 then -- guard: purge-unread
  set_timer('purge', now + request.keep)
  return { 'not-due' }
end
local function remove()
  local ended_at = request.settled_at
  for _, person in ipairs(request.is_covered and {} or requesters()) do
    redis.call('ZREM', K.asked, index_member(person, request.created))
    redis.call('ZREM', K.decided, index_member(person, ended_at))
  end
  if request.by and request.by ~= '' then redis.call('ZREM', K.decided, index_member(request.by, ended_at)) end
  for _, view in ipairs(words(request.views)) do
    local item = 'view|' .. request_id .. '|' .. view
    redis.call('ZREM', K.outbox, item)
    redis.call('HDEL', K.rows, 'claim|' .. item, 'tries|' .. item, 'since|' .. item)
  end
  redis.call('DEL', K.ask, K.run, K.record)
  forget('purge', 'undo')
end

remove()
for _, interrupt in ipairs(words(request.runs)) do
  about(thread_id .. '~' .. interrupt, function()
    if request.settled_at then remove() end
  end)
end
return { 'purged' }
