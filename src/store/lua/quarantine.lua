-- Sets a thread aside whose record cannot be read; nothing of it is changed or lost, and nobody works on it.
-- ARGV: thread, why, what is said of it (JSON), its digest, the request that cannot be read or ''.
-- Result: {'quarantined'}; the same call again changes nothing.
--- include audit
local why, body, digest, request_id = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- Time and workers would come back to it for ever. The thread may have been set aside before, for another request.
for _, timer in ipairs({ 'expire', 'remind', 'escalate', 'recover', 'purge' }) do
  redis.call('ZREM', K.timers, timer .. '|' .. request_id)
end
redis.call('ZREM', K.run, request_id)

if redis.call('HGET', K.thread, 'quarantine') then return { 'quarantined' } end -- guard: quarantine-repeated

redis.call('HSET', K.thread, 'quarantine', why)
redis.call('HDEL', K.thread, 'owner', 'lease_until')
redis.call('ZREM', K.wake, thread_id)
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
audit('quarantined', thread_id, why, body, digest)
return { 'quarantined' }
