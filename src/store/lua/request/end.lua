-- Ends a request that does not run. One that was started before does not end as one that did not run: its outcome is unknown, and people
-- are asked.
-- ARGV
--   1 thread id
--   2 request id
--   3 'withdrawn' by a requester or an operator, 'superseded', 'expired', 'failed' if no card can be shown to anybody, or 'succeeded' for a
--     plan whose steps have all ended
--   4 who withdraws it, or ''
--   5 reason
--   6 audit body (JSON)
--   7 digest of the body
--   8 '1' if an operator withdraws it
-- Returns
--   {'ended'}              also for the same call again
--   {'unknown-outcome'}    it was superseded, and was started before; also for the same call again
--   {'settled', state, by}
--   {'not-due'}            it expires later, or not all of its steps have run
--   {'unknown'}, {'not-yours'}
--- include request
local state, who, reason, body, digest, is_operator = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
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
local is_plan_over = state == 'succeeded'
local is_approved = request.state == 'approved' and (is_withdrawn or state == 'superseded' or (is_plan_over and request.steps))
if is_plan_over and request.settled_at then forget('run') end
if (request.state ~= 'pending' or is_plan_over) and not is_approved then return too_late() end -- guard: end-settled
if state == 'expired' and now < tonumber(request.expires) then return { 'not-due' } end -- guard: end-due
for i, step in ipairs(is_plan_over and words(request.steps) or {}) do
  local how = request['step:' .. i] or 'pending'
  local is_done = how == 'succeeded' or how == 'ran' or how == 'skipped'
  -- The end of the step that it waits for makes it due again.
  local waits = how == 'started' or how == 'unknown' or (how == 'pending' and string.find(step, ':alone', 1, true))
  if waits then forget('run') end
  if not is_done then return { 'not-due' } end -- guard: end-steps
end
local is_tried = tonumber(request.attempts) > 0
if is_tried and is_withdrawn then return too_late() end -- guard: end-withdrawn-tried
if is_tried then -- guard: end-tried
  ask_people(reason)
  report_due('recover|' .. request_id, now)
  audit('unknown', request_id, 'try ' .. request.attempts, body, digest)
  return { 'unknown-outcome' }
end

settle(state, is_plan_over and request.by or who, reason)
audit(state == 'failed' and 'abandoned' or state, request_id, who, body, digest)
return { 'ended' }
