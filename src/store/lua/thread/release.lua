-- Gives a running turn back without an end: what it logged stays, and the next turn continues at once.
-- ARGV
--   1 thread id
--   2 token
-- Returns
--   {'released'}           also for the same call again
--   {'stale'}
--- include claims
local token = ARGV[2]
local thread = read(K.thread, 'token', 'owner', 'committed')

if thread.token ~= token or thread.committed == token then return { 'stale' } end -- guard: release-stale

end_claim()
redis.call('ZADD', K.timers, NOW, 'thread|' .. thread_id)
report_due('thread|' .. thread_id, now)
return { 'released' }
