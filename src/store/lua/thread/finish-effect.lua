-- Records how a started call of a running turn ended.
-- ARGV
--   1 thread id
--   2 token
--   3 ref of the call
--   4 run
--   5 'succeeded', 'failed', 'unknown', or 'paused' for a call that took no effect yet and may run later
--   6 result of the call (JSON)
--   7 audit body (JSON)
--   8 digest of the body
--   9 number of counters of first times, then of each: name, 0, '', window in ms
-- Returns
--   {'finished'}           also for the same call again
--   {'stale'}              another turn or another run has the call; its end is audited as late
--- include audit
--- include limits
local token, ref, run, outcome, part, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local thread = read(K.thread, 'token', 'owner', 'late')
local state, last_run, runs, first = string.match(redis.call('HGET', K.effects, ref) or '', '^(%S+) (%S+) (%S+) (%S+)')
local mine = thread.token == token and thread.owner and last_run == run

if mine and state ~= 'started' then return { 'finished' } end -- guard: finish-effect-repeated
if not mine then -- guard: finish-effect-stale
  if not thread.token or thread.late == run then return { 'stale' } end -- guard: finish-effect-late
  redis.call('HSET', K.thread, 'late', run)
  audit('effect-late', thread_id, outcome .. ' ' .. run, body, digest)
  return { 'stale' }
end

-- A call that paused keeps its place in its limits: it goes on, and counts once.
if outcome == 'failed' then take_back(thread_id .. '/' .. ref) end -- guard: finish-effect-failed
if outcome == 'succeeded' then count_done(read_uses(ARGV, 9)) end -- guard: finish-effect-done
local kept = outcome == 'paused' and 'paused' or 'finished'
redis.call('HSET', K.effects, ref, table.concat({ kept, run, runs, first, part }, ' '))
audit('effect-' .. outcome, thread_id, run, body, digest)
return { 'finished' }
