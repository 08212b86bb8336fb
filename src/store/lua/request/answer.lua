-- Records the answer to a question, a form or a callback.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values: who; eligible, '1' if the person may answer; value, the answer (JSON); body and digest of the audit row
-- Returns
--   {'answered'}           also for the same answer by the same person again
--   {'settled', state, by}
--   {'expired'}, {'unknown'}, {'is-an-approval'}, {'not-eligible'}, {'own-request'}
--- include request
local a = cmsgpack.unpack(ARGV[3])
local who, eligible, value, body, digest = a.who, a.eligible, a.value, a.body, a.digest

if not request.state then return { 'unknown' } end -- guard: answer-unknown
if request.kind == 'approval' then return { 'is-an-approval' } end -- guard: answer-kind
if request.state == 'answered' and request.by == who and request.payload == value then -- guard: answer-repeated
  return { 'answered' }
end
if request.state ~= 'pending' then -- guard: answer-settled
  return refuse(who, body, digest, unpack(settled()))
end
if now >= tonumber(request.expires) then -- guard: answer-expired
  report_due('expire|' .. request_id, now)
  return refuse(who, body, digest, 'expired')
end
if eligible ~= '1' then -- guard: answer-eligible
  return refuse(who, body, digest, 'not-eligible')
end
if is_barred(who) then -- guard: answer-own
  return refuse(who, body, digest, 'own-request')
end

settle('answered', who, value)
audit('answered', request_id, who, body, digest)
return { 'answered' }
