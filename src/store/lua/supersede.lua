-- Ends a request whose ground has changed, so that it is asked anew.
-- ARGV: thread, request, what is said of it (JSON), its digest, the reason.
-- Result: {'superseded'}, {'settled', state, by} or {'unknown'}; the same call again is 'superseded'.
--- include request
local body, digest, reason = ARGV[3], ARGV[4], ARGV[5]

if not request.state then return { 'unknown' } end -- guard: supersede-unknown
if request.state == 'superseded' then return { 'superseded' } end -- guard: supersede-repeated
if request.state ~= 'pending' and request.state ~= 'approved' then return settled() end -- guard: supersede-settled

settle('superseded', '', reason)
audit('superseded', request_id, '', body, digest)
return { 'superseded' }
