-- Stores the outcome of an attempt and, if no other request of its round is open, claims the thread's next turn in the same step.
-- ARGV
--    1 to 8 as `finish`
--    9 owner, new for every claim
--   10 length of the lease in ms
-- Returns
--   the reply of `finish`, and after 'finished' the reply of `claim-turn`; the same call again returns the same
--- include request
--- script finish
--- script claim-turn
local reply = finish({ ARGV[1], ARGV[2], unpack(ARGV, 3, 8) })
if reply[1] == 'finished' then append(reply, claim_turn({ ARGV[1], ARGV[9], ARGV[10] })) end
return reply
