-- Counts a turn that failed and gives it back. It is tried again after a delay that doubles; a thread that fails too often is
-- quarantined, and people are told.
-- ARGV
--   1 thread id
--   2 token
--   3 most failures in a row
--   4 first delay in ms
--   5 reason
--   6 audit body (JSON)
--   7 digest of the body
--   8 number of notices, then id and row (JSON) of each
-- Returns
--   {'failed', failures}   also for the same call again
--   {'quarantined'}        also for the same call again
--   {'stale'}
--- include audit
--- include claims
--- include send
local token, most, delay, reason, body, digest = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]
local thread = read(K.thread, 'token', 'owner', 'failures', 'failed', 'quarantine')

if thread.failed == token then -- guard: fail-turn-repeated
  return thread.quarantine and { 'quarantined' } or { 'failed', thread.failures }
end
if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: fail-turn-stale

local failures = tonumber(thread.failures or '0') + 1
redis.call('HSET', K.thread, 'failures', int(failures), 'failed', token)
end_claim()
if failures < most then -- guard: fail-turn-most
  local again_at = now + delay * 2 ^ (failures - 1)
  redis.call('ZADD', K.timers, int(again_at), 'thread|' .. thread_id)
  report_due('thread|' .. thread_id, again_at)
  return { 'failed', int(failures) }
end
redis.call('HSET', K.thread, 'quarantine', reason)
redis.call('ZREM', K.timers, 'thread|' .. thread_id)
redis.call('ZREM', K.timers, 'retire|' .. thread_id)
redis.call('ZADD', K.quarantined, NOW, thread_id)
local next_arg = reader(9)
for _ = 1, tonumber(ARGV[8]) do send(next_arg(), next_arg()) end
audit('quarantined', thread_id, reason, body, digest)
return { 'quarantined' }
