-- Records the answer to a question, a form or a call-back.
-- ARGV: thread, request, who, '1' if they may answer, the answer (JSON), what is said of it (JSON), its digest.
-- Result: {'answered'}, {'settled', state, by}, {'expired'}, {'unknown'}, {'is-an-approval'} or {'not-eligible'}; the same
-- answer by the same person again is 'answered'.
--- include request
local who, eligible, value, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not request.state then return { 'unknown' } end -- guard: answer-unknown
if request.kind == 'approval' then return { 'is-an-approval' } end -- guard: answer-kind
if request.state == 'answered' and request.by == who and request.payload == value then -- guard: answer-repeated
  return { 'answered' }
end
if request.state ~= 'pending' then -- guard: answer-settled
  return refuse(who, body, digest, unpack(settled()))
end
if now >= tonumber(request.expires) then -- guard: answer-expired
  return refuse(who, body, digest, 'expired')
end
if eligible ~= '1' then -- guard: answer-eligible
  return refuse(who, body, digest, 'not-eligible')
end

settle('answered', who, value)
audit('answered', request_id, who, body, digest)
return { 'answered' }
