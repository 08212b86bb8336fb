-- Withdraws a request that has not started; only a requester or an operator may.
-- ARGV
--   1 thread id
--   2 request id
--   3 who
--   4 audit body (JSON)
--   5 digest of the body
--   6 reason
--   7 '1' if an operator withdraws it
-- Returns
--   {'withdrawn'}          also for the same call again
--   {'settled', state, by}
--   {'unknown'}, {'not-yours'}
--- include request
local who, body, digest, reason, is_operator = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not request.state then return { 'unknown' } end -- guard: withdraw-unknown
if is_operator ~= '1' and not is_requester(who) then -- guard: withdraw-own
  return refuse(who, body, digest, 'not-yours')
end
if request.state == 'withdrawn' then return { 'withdrawn' } end -- guard: withdraw-repeated
if request.state ~= 'pending' and request.state ~= 'approved' then -- guard: withdraw-settled
  return refuse(who, body, digest, unpack(settled()))
end
-- A retry was started before, and a withdrawal would say that it did not run.
if tonumber(request.attempts) > 0 then -- guard: withdraw-attempted
  return refuse(who, body, digest, unpack(settled()))
end

settle('withdrawn', who, reason)
audit('withdrawn', request_id, who, body, digest)
return { 'withdrawn' }
