-- Sends the notice of a timer of a request: a reminder, the call for further people to decide, the question about an unknown outcome, or what
-- follows the end of a Run that no thread made.
-- Only now the timer goes, so that a process that dies before leaves the notice to another.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values: timer, 'remind', 'escalate', 'recover' for an unknown outcome, or 'ended'; row_id, or '', and row (JSON) of the notice; quiet, when
--     the quiet hours end, in ms, or ''; seen, the revision of the request that the caller has seen, or ''; views, id and place (JSON) of
--     each further one
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
local a = cmsgpack.unpack(ARGV[3])
local timer, row_id, row, quiet_until, seen = a.timer, a.row_id, a.row, tonumber(a.quiet), a.seen

if not request.state then -- guard: notify-unknown
  forget(timer)
  return { 'unknown' }
end
if timer ~= 'ended' and request.state ~= (timer == 'recover' and 'unknown' or 'pending') then return settled() end -- guard: notify-settled
local at = redis.call('ZSCORE', K.timers, timer .. '|' .. request_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: notify-due
if seen ~= '' and request.rev ~= seen then return { 'changed' } end -- guard: notify-changed
if timer == 'remind' and not tonumber(request.remind_every) then return { 'malformed', 'remind_every' } end -- guard: notify-malformed
if quiet_until and now < quiet_until then -- guard: notify-quiet
  due(timer, quiet_until)
  return { 'postponed' }
end

if row_id ~= '' then send(row_id, row) end
add_views(a.views)
if timer == 'remind' then
  due(timer, now + request.remind_every)
  audit('reminded', request_id, '', '', '')
  return { 'sent' }
end
forget(timer)
if timer == 'escalate' then
  local escalate_to = request.escalate_to or ''
  redis.call('HSET', K.ask, 'principals', request.principals .. ' ' .. escalate_to, 'escalated_at', NOW)
  list_for(escalate_to)
  redraw()
  audit('escalated', request_id, escalate_to, '', '')
end
return { 'sent' }
