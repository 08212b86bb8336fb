-- Records one person's vote and, if it completes the quorum, starts the action in the same step. Both transitions keep their own
-- guards and audit rows.
-- ARGV
--    1 to 12 as `vote`
--   13 to 19 as 3 to 9 of `start`
-- Returns
--   the reply of `vote`, and after a vote that approves the request the reply of `start`; the same call again returns the same
--- include request
--- include groups
--- include delegated
--- include frozen
--- script vote
--- script start
local reply = vote({ ARGV[1], ARGV[2], unpack(ARGV, 3, 12) })
if reply[1] ~= 'voted' then return reply end
if request.state ~= 'approved' and request.attempt ~= ARGV[13] then return reply end -- guard: vote-start-approved
append(reply, start({ ARGV[1], ARGV[2], unpack(ARGV, 13, 19) }))
return reply
