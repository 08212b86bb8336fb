-- Asks the turn of a thread that has not ended to stop, also one whose worker died or that waits for its next try, and keeps who
-- asked: the turn starts no further effect, and what it still asks people for is withdrawn where this person is a requester. Its
-- worker learns of it when it renews the lease, starts an effect or ends the turn.
-- ARGV
--   1 thread id
--   2 who
--   3 audit body of a withdrawal (JSON)
--   4 digest of the body
-- Returns
--   {'stopping'}           also for the same call again until that turn ends
--   {'idle'}
--- include stopped
local who, body, digest = ARGV[2], ARGV[3], ARGV[4]
local thread = read(K.thread, 'token', 'committed', 'stop', 'stopped_by')

if not thread.token or thread.committed == thread.token then return { 'idle' } end -- guard: stop-idle
record_stop(thread, who, body, digest)
return { 'stopping' }
