-- Gives up an attempt without a heartbeat, or one whose own worker says that nobody can know its outcome. An idempotent action is due again; the outcome of any other is unknown, and people are asked.
-- ARGV
--   1 thread id
--   2 request id
--   3 attempt that gives itself up, or ''
--   4 its reason, for people
--   5 audit body (JSON)
--   6 digest of the body
-- Returns
--   {'retry', attempts so far}
--   {'unknown-outcome'}
--   {'still-unknown'}      nobody was asked yet; also for the same call again
--   {'settled', state, by} or {'not-due'}  also for the same call again
--   {'unknown'}
--- include request
local own, reason, body, digest = ARGV[3] ~= '' and ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if not request.state then -- guard: recover-unknown
  forget('recover')
  return { 'unknown' }
end
local at = redis.call('ZSCORE', K.timers, 'recover|' .. request_id)
if request.state == 'unknown' and at then return { 'still-unknown' } end -- guard: recover-unasked
if request.state ~= 'started' then return settled() end -- guard: recover-settled
if own and own ~= request.attempt then return { 'not-due' } end -- guard: recover-own
if not own and at and now < tonumber(at) then return { 'not-due' } end -- guard: recover-due

local again = true
if request.idempotent ~= '1' then again = false end -- guard: recover-idempotent
if now - tonumber(request.first_start) >= tonumber(request.retry_for) then again = false end -- guard: recover-age
if tonumber(request.attempts) >= tonumber(request.max_attempts) then again = false end -- guard: recover-attempts

if again then
  forget('recover')
  set_run('attempt', '')
  enter('approved')
  set_to_run(true)
  audit('retried', request_id, 'after try ' .. request.attempts, body, digest)
  return { 'retry', request.attempts }
end
ask_people(reason)
-- The timer itself looks for the outcome.
if own then report_due('recover|' .. request_id, now) end
audit('unknown', request_id, 'try ' .. request.attempts, body, digest)
return { 'unknown-outcome' }
