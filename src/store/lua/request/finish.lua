-- Stores the outcome of an attempt, and its message for the model. An attempt that was given up as unknown and reports after all is
-- accepted, unless a person or another attempt has moved the request on. With an owner it claims the thread's next turn in the same step,
-- if no other request of its round is open.
-- ARGV
--   1 thread id
--   2 request id
--   3 attempt
--   4 'succeeded', 'failed', or 'paused' for a call that goes on in its thread
--   5 message for the model (JSON)
--   6 summary for people (JSON)
--   7 audit body (JSON)
--   8 digest of the body
--   9 owner, new for every claim, or ''
--  10 length of the lease in ms
-- Returns
--   {'finished', state}    also for the same call again; then the reply of `claim-turn`, if it was tried
--   {'stale', state}
--   {'unknown'}
--- include request
--- include limits
--- script claim-turn
local attempt, outcome, message, payload, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local function store()
  if not request.state then return { 'unknown' } end -- guard: finish-unknown
  local mine = request.attempt == attempt
  if mine and (request.state == 'succeeded' or request.state == 'failed' or request.state == 'paused') then return { 'finished', request.state } end -- guard: finish-repeated
  if not mine or (request.state ~= 'started' and request.state ~= 'unknown') then -- guard: finish-stale
    if redis.call('HSETNX', K.request, 'late:' .. attempt, outcome) == 1 then
      audit('late', request_id, outcome .. ' ' .. attempt, body, digest)
    end
    return { 'stale', request.state }
  end

  redis.call('RPUSH', K.log, message)
  settle(outcome, request.by or '', payload)
  if outcome == 'failed' and request.action then take_back(request.action) end -- guard: finish-failed
  if outcome == 'succeeded' then count_kept(request.done) end -- guard: finish-done
  audit(outcome, request_id, attempt, body, digest)
  return { 'finished', outcome }
end

local reply = store()
if reply[1] == 'finished' and ARGV[9] ~= '' then append(reply, claim_turn({ ARGV[1], ARGV[9], ARGV[10] })) end
return reply
