-- Gives one worker the lease and the fencing token for a thread's next turn.
-- ARGV
--   1 thread id
--   2 owner, new for every claim
--   3 length of the lease in ms
-- Returns
--   {'claimed', token, number of messages, inbox, interrupts of the round and their ends as pairs, version of the record,
--    the Runs of the turn that has not ended: of each its ref, state, attempt, attempts, first start and result or '', '1' if a person stopped the turn that this one continues}
--                          the same call again returns the same token
--   {'died', token}        too many claims in a row ended with their processes; the token is that of the last
--   {'busy', end of the other lease}   also that of the suspect, if this thread is suspected too
--   {'waiting', open requests}
--   {'idle'}
--   {'quarantined', reason}
--- include thread
--- include wake
--- include runs
--- include claims
local owner, lease = ARGV[2], tonumber(ARGV[3])

if thread.quarantine then -- guard: claim-quarantined
  wake_never()
  return { 'quarantined', thread.quarantine }
end
local held = thread.owner and tonumber(thread.lease_until) > now
if held and thread.owner ~= owner then return { 'busy', thread.lease_until } end -- guard: claim-busy
if tonumber(thread.open or '0') > 0 then return { 'waiting', thread.open } end -- guard: claim-waiting
local inbox = redis.call('LRANGE', K.inbox, 0, -1)
local round = redis.call('HGETALL', K.round)
local runs = words(thread.runs)
if #inbox == 0 and #round == 0 and #runs == 0 then -- guard: claim-idle
  wake_never()
  return { 'idle' }
end

local claims = held and 0 or tonumber(thread.claims or '0')
if claims >= MOST_CLAIMS then return { 'died', thread.token } end -- guard: claim-died
local suspect = claims >= SHARED_CLAIMS and read(K.head, 'suspect', 'suspect_until') or {}
if suspect.suspect and suspect.suspect ~= thread_id and tonumber(suspect.suspect_until) > now then return { 'busy', suspect.suspect_until } end -- guard: claim-suspect

-- A stop holds until the turn that it found has ended, whichever process ends it. What was written after the claim of that turn is left
-- to the next one.
local stopped = ''
if thread.stop and thread.stop == thread.token and thread.committed ~= thread.token then -- guard: claim-stopped
  stopped = '1'
  for i = #inbox, tonumber(thread.inbox_claimed or #inbox) + 1, -1 do inbox[i] = nil end
end

-- Tokens are counted for all threads, so that a retired thread that starts again never reuses one.
local token = thread.token
if not held then
  token = int(redis.call('HINCRBY', K.head, 'token', 1))
  redis.call('HINCRBY', K.thread, 'claims', 1)
  if claims >= SHARED_CLAIMS then keep_suspect(lease) end
end
if stopped == '1' then
  redis.call('HSET', K.thread, 'stop', token)
  if thread.stopped_by then redis.call('HSET', K.thread, 'stopped_by', (string.gsub(thread.stopped_by, '^%S+', token))) end
end
redis.call('HSET', K.thread, 'token', token, 'owner', owner, 'lease_until', int(now + lease), 'inbox_claimed', #inbox)
wake_at(int(now + lease))
local calls = {}
for _, id in ipairs(runs) do
  local run = read(run_key(id), 'ref', 'state', 'attempt', 'attempts', 'first_start', 'part')
  append(calls, { run.ref or '', run.state or '', run.attempt or '', run.attempts or '', run.first_start or '', run.part or '' })
end
return { 'claimed', token, int(redis.call('LLEN', K.log)), inbox, round, thread.v or '', calls, stopped }
