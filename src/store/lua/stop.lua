-- Asks the turn that is going on in a thread to stop; whoever runs it learns of it when it renews its lease.
-- ARGV: thread.
-- Result: {'stopping'} or {'idle'}; the same call again is 'stopping' as long as that turn goes on.
local thread = read(K.thread, 'token', 'owner', 'lease_until')

if not thread.owner or tonumber(thread.lease_until) <= now then return { 'idle' } end -- guard: stop-idle

redis.call('HSET', K.thread, 'stop', thread.token)
return { 'stopping' }
