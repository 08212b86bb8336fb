-- Ends a request whose card cannot be shown to anybody.
-- ARGV
--   1 thread id
--   2 request id
--   3 reason
--   4 audit body (JSON)
--   5 digest of the body
-- Returns
--   {'abandoned'}
--   {'settled', state, by} also for the same call again
--   {'unknown'}
--- include request
local reason, body, digest = ARGV[3], ARGV[4], ARGV[5]

if not request.state then return { 'unknown' } end -- guard: abandon-unknown
if request.state ~= 'pending' then return settled() end -- guard: abandon-settled

settle('failed', '', reason)
audit('abandoned', request_id, '', body, digest)
return { 'abandoned' }
