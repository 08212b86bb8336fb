-- Asks the running turn of a thread to stop; its worker learns of it when it renews the lease.
-- ARGV
--   1 thread id
-- Returns
--   {'stopping'}           also for the same call again while that turn runs
--   {'idle'}
local thread = read(K.thread, 'token', 'owner', 'lease_until')

if not thread.owner or tonumber(thread.lease_until) <= now then return { 'idle' } end -- guard: stop-idle

redis.call('HSET', K.thread, 'stop', thread.token)
return { 'stopping' }
