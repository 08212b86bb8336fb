-- Records one person's approval and, where it is the last that was needed, starts the action: two transitions, each with its own
-- checks and its own rows of the audit log, in one step.
-- ARGV: thread, request, seven as for `vote` from the third on, six as for `start` from the third on.
-- Result: as `vote` says, and after a vote that leaves it approved as `start` says; the same call again gives the same.
--- include request
--- script vote
--- script start
local said = vote({ ARGV[1], ARGV[2], unpack(ARGV, 3, 9) })
if said[1] ~= 'voted' then return said end
if request.state ~= 'approved' and request.attempt ~= ARGV[10] then return said end -- guard: vote-start-approved
append(said, start({ ARGV[1], ARGV[2], unpack(ARGV, 10, 15) }))
return said
