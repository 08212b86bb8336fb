-- Stores what became of an attempt and, where nothing else of its round waits, gives the right to write the thread's next turn.
-- ARGV: thread, request, six as for `finish` from the third on, as for `take` who takes it and how long the lease holds in ms.
-- Result: as `finish` says, and after a 'finished' as `take` says; the same call again gives the same.
--- include request
--- script finish
--- script take
local said = finish({ ARGV[1], ARGV[2], unpack(ARGV, 3, 8) })
if said[1] == 'finished' then append(said, take({ ARGV[1], ARGV[9], ARGV[10] })) end
return said
