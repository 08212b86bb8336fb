-- Counts a call without effects before it runs: against its limits, and as a use of its grant. The same call again counts once.
-- ARGV
--   1 thread id
--   2 named values: action, as limits count it; limits, of each its name, amount, most or '' to count only, window in ms; grant, its id
--     or ''; call, as the grant knows it; use_body and use_digest of the audit row of the use
-- Returns
--   {'counted', uses of the grant}
--   {'ungranted', why}
--   {'over', number of the limit, how much of it is used}
--- include audit
--- include limits
--- include grant
local a = cmsgpack.unpack(ARGV[2])

local problem = a.grant ~= '' and read_grant(a.grant, a.call)
if problem then return { 'ungranted', problem } end -- guard: count-call-granted
local over, used = count_action(a.action, uses_of(a.limits))
if over then return { 'over', int(over), amount_text(used) } end -- guard: count-call-over

return { 'counted', a.grant == '' and '0' or use_grant(a.grant, a.call, a.use_body, a.use_digest) }
