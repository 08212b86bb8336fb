-- Lengthens the lease of a turn that is still going on.
-- ARGV: thread, token, how long the lease holds in ms.
-- Result: {'renewed'}, {'stopped'} if somebody wants the turn to stop, or {'stale'}.
local token, lease = ARGV[2], tonumber(ARGV[3])
local thread = read(K.thread, 'token', 'owner', 'stop')

if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: renew-stale

redis.call('HSET', K.thread, 'lease_until', int(now + lease))
redis.call('ZADD', K.wake, int(now + lease), thread_id)
return { thread.stop == token and 'stopped' or 'renewed' }
