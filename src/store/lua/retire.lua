-- Removes a thread in which nothing waits and nothing was said for long enough.
-- ARGV: thread.
-- Result: {'retired'}, {'not-due'} or {'in-use'}; the same call again is 'not-due'.
local at = redis.call('ZSCORE', K.timers, 'retire|' .. thread_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: retire-due
-- A thread in use is not looked at again: the turn that leaves it with nothing to do sets the time anew.
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
local thread = read(K.thread, 'open', 'owner')
if tonumber(thread.open or '0') > 0 or thread.owner then return { 'in-use' } end -- guard: retire-open
if redis.call('LLEN', K.inbox) > 0 then return { 'in-use' } end -- guard: retire-inbox

redis.call('DEL', K.thread, K.log, K.inbox, K.seen, K.round)
redis.call('ZREM', K.wake, thread_id)
return { 'retired' }
