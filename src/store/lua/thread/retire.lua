-- Removes a thread that has been idle for long enough.
-- ARGV
--   1 thread id
--   2 '1' to remove it before its time
-- Returns
--   {'retired'}
--   {'not-due'}            also for the same call again
--   {'in-use'}
--- include runs
local at = redis.call('ZSCORE', K.timers, 'retire|' .. thread_id)
if ARGV[2] ~= '1' and (not at or now < tonumber(at)) then return { 'not-due' } end -- guard: retire-due
-- A thread in use needs no timer: the turn that leaves it idle sets a new one.
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
local thread = read(K.thread, 'open', 'owner', 'runs')
if tonumber(thread.open or '0') > 0 or thread.owner then return { 'in-use' } end -- guard: retire-open
if redis.call('LLEN', K.inbox) > 0 then return { 'in-use' } end -- guard: retire-inbox
-- The next turn has to read how its requests ended.
if ARGV[2] == '1' and redis.call('EXISTS', K.round) == 1 then return { 'in-use' } end -- guard: retire-unread

end_runs(thread.runs, '1')
redis.call('DEL', K.thread, K.log, K.inbox, K.seen, K.round, K.files)
redis.call('ZREM', K.timers, 'thread|' .. thread_id)
redis.call('ZREM', K.quarantined, thread_id)
return { 'retired' }
