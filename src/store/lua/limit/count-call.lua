-- Counts a call without effects before it runs: against its limits, and as a use of its grant. The same call again counts once.
-- ARGV
--   1 thread id
--   2 ref of the call
--   3 id of the grant, or ''
--   4 call, as the grant knows it
--   5 audit body of the use (JSON)
--   6 digest of the body
--   7 number of limits, then of each: name, amount, most or '' to count only, window in ms
-- Returns
--   {'counted', uses of the grant}
--   {'ungranted', why}
--   {'over', number of the limit, how much of it is used}
--- include audit
--- include limits
--- include grant
local ref, grant, call, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local problem = grant ~= '' and read_grant(grant, call)
if problem then return { 'ungranted', problem } end -- guard: count-call-granted
local over, used = count_action(thread_id .. '/' .. ref, read_uses(ARGV, 7))
if over then return { 'over', int(over), amount_text(used) } end -- guard: count-call-over

return { 'counted', grant == '' and '0' or use_grant(grant, call, body, digest) }
