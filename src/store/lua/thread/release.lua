-- Gives a running turn back without an end: what it logged stays, and the next turn continues at once.
-- ARGV
--   1 thread id
--   2 token
-- Returns
--   {'released'}           also for the same call again
--   {'stale'}
local token = ARGV[2]
local thread = read(K.thread, 'token', 'owner', 'committed')

if thread.token ~= token or thread.committed == token then return { 'stale' } end -- guard: release-stale

redis.call('HDEL', K.thread, 'owner', 'lease_until')
redis.call('ZADD', K.wake, NOW, thread_id)
return { 'released' }
