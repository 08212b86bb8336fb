-- Lets a quarantined thread be claimed again, at once.
-- ARGV
--   1 thread id
--   2 audit body (JSON)
--   3 digest of the body
-- Returns
--   {'unquarantined'}
--   {'not-quarantined'}    also for the same call again
--- include audit
local why = redis.call('HGET', K.thread, 'quarantine')
if not why then return { 'not-quarantined' } end -- guard: unquarantine-repeated

redis.call('HDEL', K.thread, 'quarantine', 'failures', 'failed')
redis.call('ZREM', K.quarantined, thread_id)
redis.call('ZADD', K.timers, NOW, 'thread|' .. thread_id)
report_due('thread|' .. thread_id, now)
audit('unquarantined', thread_id, why, ARGV[2], ARGV[3])
return { 'unquarantined' }
