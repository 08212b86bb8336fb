-- Gives a running turn back without an end: what it logged stays, and the next turn continues at once, or when the model may be called
-- again. One that failed is counted and
-- tried again after a delay that doubles; a thread that fails too often is quarantined, and people are told.
-- ARGV
--   1 thread id
--   2 named values: token; of a turn that has failed most, the most failures in a row; delay, the first one in ms; reason; notices, id and
--     row (JSON) of each; body and digest of the audit row
-- Returns
--   {'released'}, {'failed'}, {'quarantined'}    also for the same call again
--   {'stale'}
--- include audit
--- include claims
--- include send
--- include frozen
-- A freeze that ends wakes what it held at once, so this is only for a process that has missed it.
local HOLD_MS = 60000
local a = cmsgpack.unpack(ARGV[2])
local token, most, delay, reason = a.token, tonumber(a.most), tonumber(a.delay), a.reason
local thread = read(K.thread, 'token', 'owner', 'committed', 'failures', 'failed', 'quarantine')

if most and thread.failed == token then return { thread.quarantine and 'quarantined' or 'failed' } end -- guard: release-failed
if thread.token ~= token or thread.committed == token then return { 'stale' } end -- guard: release-stale
if not thread.owner then return { most and 'stale' or 'released' } end -- guard: release-repeated

end_claim()
local failures = tonumber(thread.failures or '0') + 1
if most then redis.call('HSET', K.thread, 'failures', int(failures), 'failed', token) end
if most and failures >= most then -- guard: release-most
  redis.call('HSET', K.thread, 'quarantine', reason)
  redis.call('ZREM', K.timers, 'thread|' .. thread_id, 'retire|' .. thread_id)
  redis.call('ZADD', K.quarantined, NOW, thread_id)
  for _, notice in ipairs(a.notices) do send(notice[1], notice[2]) end
  audit('quarantined', thread_id, reason, a.body, a.digest)
  return { 'quarantined' }
end
local again_at = most and now + delay * 2 ^ (failures - 1) or now
if not most and is_model_frozen() then again_at = now + HOLD_MS end -- guard: release-held
redis.call('ZADD', K.timers, int(again_at), 'thread|' .. thread_id)
report_due('thread|' .. thread_id, again_at)
return { most and 'failed' or 'released' }
