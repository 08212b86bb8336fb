-- Enqueues a reminder for the approvers, and sets the time of the next one.
-- ARGV
--   1 thread id
--   2 request id
--   3 id of the reminder's outbox row
--   4 the row (JSON)
--   5 when the quiet hours end, in ms, or ''
-- Returns
--   {'reminded'}
--   {'postponed'}          it is due when the quiet hours end
--   {'settled', state, by}
--   {'not-due'}            also for the same call again
--   {'unknown'}
--- include request
--- include send
local row_id, row, quiet_until = ARGV[3], ARGV[4], tonumber(ARGV[5])

if not request.state then -- guard: remind-unknown
  forget('remind')
  return { 'unknown' }
end
if request.state ~= 'pending' then return settled() end -- guard: remind-settled
local at = redis.call('ZSCORE', K.timers, 'remind|' .. request_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: remind-due
if not tonumber(request.remind_every) then return { 'malformed', 'remind_every' } end -- guard: remind-malformed
if quiet_until and now < quiet_until then -- guard: remind-quiet
  due('remind', quiet_until)
  return { 'postponed' }
end

due('remind', now + request.remind_every)
send(row_id, row)
audit('reminded', request_id, '', '', '')
return { 'reminded' }
