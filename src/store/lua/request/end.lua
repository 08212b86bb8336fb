-- Ends a request that does not run. One that was started before does not end as one that did not run: its outcome is unknown, and people
-- are asked.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values:
--     state, 'withdrawn' by a requester or an operator, 'superseded', 'expired', or 'failed' if no card can be shown to anybody; who
--     withdraws it, or ''; operator, '1' if that is an operator; reason; body and digest of the audit row
-- Returns
--   {'ended'}              also for the same call again
--   {'unknown-outcome'}    it was superseded, and was started before; also for the same call again
--   {'settled', state, by}
--   {'not-due'}            it expires later
--   {'unknown'}, {'not-yours'}
--- include request
local a = cmsgpack.unpack(ARGV[3])
local state, who, reason, body, digest, is_operator = a.state, a.who, a.reason, a.body, a.digest, a.operator
local is_withdrawn = state == 'withdrawn'
local function too_late()
  return is_withdrawn and refuse(who, body, digest, unpack(settled())) or settled()
end

if not request.state then -- guard: end-unknown
  forget('expire')
  return { 'unknown' }
end
if is_withdrawn and is_operator ~= '1' and not is_requester(who) then -- guard: end-own
  return refuse(who, body, digest, 'not-yours')
end
if request.state == state and request.payload == reason then return { 'ended' } end -- guard: end-repeated
if state == 'superseded' and request.state == 'unknown' and request.payload == reason then return { 'unknown-outcome' } end -- guard: end-asked
local is_approved = request.state == 'approved' and (is_withdrawn or state == 'superseded')
if request.state ~= 'pending' and not is_approved then return too_late() end -- guard: end-settled
if state == 'expired' and now < tonumber(request.expires) then return { 'not-due' } end -- guard: end-due
local is_tried = tonumber(request.attempts) > 0
if is_tried and is_withdrawn then return too_late() end -- guard: end-withdrawn-tried
if is_tried then -- guard: end-tried
  ask_people(reason)
  report_due('recover|' .. request_id, now)
  audit('unknown', request_id, 'try ' .. request.attempts, body, digest)
  return { 'unknown-outcome' }
end

settle(state, who, reason)
audit(state == 'failed' and 'abandoned' or state, request_id, who, body, digest)
return { 'ended' }
