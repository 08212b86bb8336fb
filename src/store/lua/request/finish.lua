-- Stores the outcome of an attempt. That of an approved Run of a thread is a message for the model: with an owner the thread's next turn is claimed
-- in the same step, if no other request of its round is open; an attempt that was given up as unknown and reports after all is
-- accepted, unless a person or another attempt has moved the Run on. That of a call in a turn is its result, kept until the turn ends.
-- A Run that paused while it ran goes on in its thread: the turn that has the thread says how it ended, or what it waits for now.
-- ARGV
--   1 thread id
--   2 run id
--   3 named values:
--     attempt; outcome, 'succeeded', 'failed' or 'paused', or of a call in a turn 'unknown'; body and digest of the audit row
--     an approved Run: message for the model (JSON); summary for people (JSON); owner, new for every claim, or ''; lease in ms
--     one that paused: token of the turn; outcome, also 'superseded'; summary for people (JSON), or the reason
--     a call in a turn: token; action, as limits count it; part, its result (JSON); done, counters of first times: name, 0, '', window in ms
-- Returns
--   {'finished', state}    also for the same call again; then the reply of `claim-turn`, if it was tried
--   {'stale', state}       another attempt, or another turn, has the Run; the end of an attempt is audited as late
--   {'settled', state, by} one that is to go on has not paused
--   {'unknown'}
--- include request
--- include limits
--- script claim-turn
local a = cmsgpack.unpack(ARGV[3])
local attempt, outcome, body, digest = a.attempt, a.outcome, a.body, a.digest

local function store_call()
  local turn, run = read(K.thread, 'token', 'owner', 'late'), read_all(K.run)
  local mine = turn.token == a.token and turn.owner and run.attempt == attempt
  if mine and run.state ~= 'running' then return { 'finished', run.state } end -- guard: finish-call-repeated
  if not mine then -- guard: finish-turn
    if not turn.token or turn.late == attempt then return { 'stale', '' } end -- guard: finish-late
    redis.call('HSET', K.thread, 'late', attempt)
    audit('effect-late', thread_id, outcome .. ' ' .. attempt, body, digest)
    return { 'stale', '' }
  end

  -- A call that paused keeps its place in its limits: it goes on, and counts once.
  if outcome == 'failed' then take_back(a.action) end -- guard: finish-call-failed
  if outcome == 'succeeded' then count_done(uses_of(a.done)) end -- guard: finish-call-done
  redis.call('HSET', K.run, 'state', outcome, 'part', a.part)
  redis.call('ZREM', K.states, request_id)
  audit('effect-' .. outcome, thread_id, attempt, body, digest)
  return { 'finished', outcome }
end

local function store_continued()
  if request.state == outcome and request.payload == a.summary then return { 'finished', outcome } end -- guard: finish-continued-repeated
  if request.state ~= 'paused' then return settled() end -- guard: finish-continued
  local turn = read(K.thread, 'token', 'owner')
  if turn.token ~= a.token or not turn.owner then return { 'stale', request.state } end -- guard: finish-continued-turn

  if outcome == 'paused' then
    set_run('payload', a.summary)
    redraw()
    correct_round(outcome, request.by or '', a.summary)
  else
    settle(outcome, request.by or '', a.summary)
  end
  audit(outcome, request_id, 'continued', body, digest)
  return { 'finished', outcome }
end

local function store_approved()
  local mine = request.attempt == attempt
  if mine and (request.state == 'succeeded' or request.state == 'failed' or request.state == 'paused') then return { 'finished', request.state } end -- guard: finish-repeated
  if not mine or (request.state ~= 'started' and request.state ~= 'unknown') then -- guard: finish-stale
    if redis.call('HSETNX', K.run, 'late:' .. attempt, outcome) == 1 then
      audit('late', request_id, outcome .. ' ' .. attempt, body, digest)
    end
    return { 'stale', request.state }
  end

  if not request.from then redis.call('RPUSH', K.log, a.message) end
  settle(outcome, request.by or '', a.summary)
  if outcome == 'failed' and request.action then take_back(request.action) end -- guard: finish-failed
  if outcome == 'succeeded' then count_kept(request.done) end -- guard: finish-done
  audit(outcome, request_id, attempt, body, digest)
  return { 'finished', outcome }
end

if a.token and attempt then return store_call() end
if not request.state then return { 'unknown' } end -- guard: finish-unknown
if a.token then return store_continued() end
local reply = store_approved()
follow_up()
local is_followed = reply[1] == 'finished' and a.owner ~= '' and not request.from
if is_followed then append(reply, claim_turn({ thread_id, a.owner, a.lease })) end
return reply
