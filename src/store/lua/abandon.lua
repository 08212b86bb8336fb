-- Ends a request that cannot be shown to anybody, so that nobody waits for it.
-- ARGV: thread, request, the reason, what is said of it (JSON), its digest.
-- Result: {'abandoned'}, {'settled', state, by} or {'unknown'}; the same call again is 'settled'.
--- include request
local reason, body, digest = ARGV[3], ARGV[4], ARGV[5]

if not request.state then return { 'unknown' } end -- guard: abandon-unknown
if request.state ~= 'pending' then return settled() end -- guard: abandon-settled

settle('failed', '', reason)
audit('abandoned', request_id, '', body, digest)
return { 'abandoned' }
