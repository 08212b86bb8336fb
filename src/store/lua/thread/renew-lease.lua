-- Extends the lease of a running turn.
-- ARGV
--   1 thread id
--   2 token
--   3 length of the lease in ms
-- Returns
--   {'renewed'}
--   {'stopped'}            a person asked the turn to stop
--   {'held'}               renewed, and no model may be called
--   {'stale'}
--- include claims
--- include frozen
local token, lease = ARGV[2], tonumber(ARGV[3])
local thread = read(K.thread, 'token', 'owner', 'stop')

if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: renew-lease-stale

redis.call('HSET', K.thread, 'lease_until', int(now + lease))
redis.call('ZADD', K.timers, int(now + lease), 'thread|' .. thread_id)
if is_suspect() then keep_suspect(lease) end
if thread.stop == token then return { 'stopped' } end -- guard: renew-lease-stopped
if is_model_frozen() then return { 'held' } end -- guard: renew-lease-held
return { 'renewed' }
