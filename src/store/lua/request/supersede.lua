-- Ends a request that no longer holds, so that it is asked anew. If it was started before, its outcome is unknown, and people are asked.
-- ARGV
--   1 thread id
--   2 request id
--   3 audit body (JSON)
--   4 digest of the body
--   5 reason
-- Returns
--   {'superseded'}         also for the same call again
--   {'unknown-outcome'}    also for the same call again
--   {'settled', state, by}
--   {'unknown'}
--- include request
local body, digest, reason = ARGV[3], ARGV[4], ARGV[5]

if not request.state then return { 'unknown' } end -- guard: supersede-unknown
if request.state == 'superseded' and request.payload == reason then return { 'superseded' } end -- guard: supersede-repeated
if request.state == 'unknown' and request.payload == reason then return { 'unknown-outcome' } end -- guard: supersede-asked
if request.state ~= 'pending' and request.state ~= 'approved' then return settled() end -- guard: supersede-settled

-- An earlier attempt may have taken effect, so the request does not end as one that did not run.
if tonumber(request.attempts) > 0 then -- guard: supersede-attempted
  ask_people(reason)
  report_due('recover|' .. request_id, now)
  audit('unknown', request_id, 'try ' .. request.attempts, body, digest)
  return { 'unknown-outcome' }
end
settle('superseded', '', reason)
audit('superseded', request_id, '', body, digest)
return { 'superseded' }
