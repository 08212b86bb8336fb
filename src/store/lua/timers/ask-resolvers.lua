-- Asks the people who may resolve an unknown outcome, with cards and a notice. Only now its timer goes, so that a process that dies
-- before leaves the question to another.
-- ARGV
--   1 thread id
--   2 request id
--   3 revision of the request that the caller has seen
--   4 id of the notice's outbox row
--   5 the row (JSON)
--   6 number of views, then id and place (JSON) of each
-- Returns
--   {'asked'}
--   {'settled', state, by}
--   {'not-due'}            also for the same call again
--   {'changed'}            the caller has seen an earlier revision, and looks again
--   {'unknown'}
--- include request
--- include views
--- include send
local seen, row_id, row = ARGV[3], ARGV[4], ARGV[5]

if not request.state then return { 'unknown' } end -- guard: ask-unknown
if request.state ~= 'unknown' then return settled() end -- guard: ask-settled
if not redis.call('ZSCORE', K.timers, 'recover|' .. request_id) then return { 'not-due' } end -- guard: ask-due
if request.rev ~= seen then return { 'changed' } end -- guard: ask-changed

forget('recover')
add_views(reader(6))
send(row_id, row)
return { 'asked' }
