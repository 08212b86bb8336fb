-- Sends the notice of a timer of a request: a reminder, the call for further people to decide, or the question about an unknown outcome.
-- Only now the timer goes, so that a process that dies before leaves the notice to another.
-- ARGV
--   1 thread id
--   2 request id
--   3 timer: 'remind', 'escalate', or 'recover' for an unknown outcome
--   4 id of the notice's outbox row
--   5 the row (JSON)
--   6 when the quiet hours end, in ms, or ''
--   7 revision of the request that the caller has seen, or ''
--   8 number of further views, then id and place (JSON) of each
-- Returns
--   {'sent'}
--   {'postponed'}          it is due when the quiet hours end
--   {'changed'}            the caller has seen an earlier revision, and looks again
--   {'settled', state, by}
--   {'not-due'}            also for the same call again
--   {'unknown'}
--- include request
--- include views
--- include send
local timer, row_id, row, quiet_until, seen = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]

if not request.state then -- guard: notify-unknown
  forget(timer)
  return { 'unknown' }
end
if request.state ~= (timer == 'recover' and 'unknown' or 'pending') then return settled() end -- guard: notify-settled
local at = redis.call('ZSCORE', K.timers, timer .. '|' .. request_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: notify-due
if seen ~= '' and request.rev ~= seen then return { 'changed' } end -- guard: notify-changed
if timer == 'remind' and not tonumber(request.remind_every) then return { 'malformed', 'remind_every' } end -- guard: notify-malformed
if quiet_until and now < quiet_until then -- guard: notify-quiet
  due(timer, quiet_until)
  return { 'postponed' }
end

send(row_id, row)
add_views(reader(8))
if timer == 'remind' then
  due(timer, now + request.remind_every)
  audit('reminded', request_id, '', '', '')
  return { 'sent' }
end
forget(timer)
if timer == 'escalate' then
  local escalate_to = request.escalate_to or ''
  redis.call('HSET', K.request, 'principals', request.principals .. ' ' .. escalate_to, 'escalated_at', NOW)
  list_for(escalate_to)
  redraw()
  audit('escalated', request_id, escalate_to, '', '')
end
return { 'sent' }
