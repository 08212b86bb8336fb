-- Quarantines a thread whose record cannot be read. Its data stays as it is, and no worker claims it.
-- ARGV
--   1 thread id
--   2 reason
--   3 audit body (JSON)
--   4 digest of the body
--   5 id of the unreadable request, or ''
-- Returns
--   {'quarantined'}        the same call again changes nothing
--- include audit
--- include claims
local why, body, digest, request_id = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- Without this, timers and workers would return to the request for ever. The thread may be quarantined already, for another request.
for _, timer in ipairs({ 'expire', 'remind', 'escalate', 'recover', 'purge', 'run', 'ended' }) do
  redis.call('ZREM', K.timers, timer .. '|' .. request_id)
end

if redis.call('HGET', K.thread, 'quarantine') then return { 'quarantined' } end -- guard: quarantine-repeated

redis.call('HSET', K.thread, 'quarantine', why)
end_claim()
redis.call('ZREM', K.timers, 'thread|' .. thread_id)
redis.call('ZADD', K.quarantined, NOW, thread_id)
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
audit('quarantined', thread_id, why, body, digest)
return { 'quarantined' }
