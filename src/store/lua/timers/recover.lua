-- Gives up an attempt without a heartbeat. An idempotent action is due again; the outcome of any other is unknown, and people are asked.
-- ARGV
--   1 thread id
--   2 request id
-- Returns
--   {'retry', attempts so far}
--   {'unknown-outcome'}
--   {'still-unknown'}      nobody was asked yet; also for the same call again
--   {'settled', state, by} or {'not-due'}  also for the same call again
--   {'unknown'}
--- include request
if not request.state then -- guard: recover-unknown
  forget('recover')
  return { 'unknown' }
end
local at = redis.call('ZSCORE', K.timers, 'recover|' .. request_id)
if request.state == 'unknown' and at then return { 'still-unknown' } end -- guard: recover-unasked
if request.state ~= 'started' then return settled() end -- guard: recover-settled
if at and now < tonumber(at) then return { 'not-due' } end -- guard: recover-due

local again = true
if request.idempotent ~= '1' then again = false end -- guard: recover-idempotent
if now - tonumber(request.first_start) >= tonumber(request.retry_for) then again = false end -- guard: recover-age
if tonumber(request.attempts) >= tonumber(request.max_attempts) then again = false end -- guard: recover-attempts

if again then
  forget('recover')
  enter('approved', 'attempt', '')
  set_to_run(true)
  audit('retried', request_id, 'after try ' .. request.attempts, '', '')
  return { 'retry', request.attempts }
end
ask_people('')
audit('unknown', request_id, 'try ' .. request.attempts, '', '')
return { 'unknown-outcome' }
