-- Takes a request back, which only the person who asked for it can do, and only before it has begun.
-- ARGV: thread, request, who, what is said of it (JSON), its digest, the reason.
-- Result: {'withdrawn'}, {'settled', state, by}, {'unknown'} or {'not-yours'}; the same call again is 'withdrawn'.
--- include request
local who, body, digest, reason = ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if not request.state then return { 'unknown' } end -- guard: withdraw-unknown
if who ~= request.requester then -- guard: withdraw-own
  return refuse(who, body, digest, 'not-yours')
end
if request.state == 'withdrawn' then return { 'withdrawn' } end -- guard: withdraw-repeated
if request.state ~= 'pending' and request.state ~= 'approved' then -- guard: withdraw-settled
  return refuse(who, body, digest, unpack(settled()))
end

settle('withdrawn', who, reason)
audit('withdrawn', request_id, who, body, digest)
return { 'withdrawn' }
