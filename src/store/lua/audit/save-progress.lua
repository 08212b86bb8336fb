-- Stores how far the export to one sink has come.
-- ARGV
--   1 ''
--   2 owner of the lease
--   3 sink
--   4 progress (JSON)
-- Returns
--   {'saved'}              also for the same call again
--   {'not-held'}           another process exports now
local owner, sink, progress = ARGV[2], ARGV[3], ARGV[4]

if redis.call('HGET', K.export, 'owner') ~= owner then return { 'not-held' } end -- guard: save-progress-held

redis.call('HSET', K.export, 'sink:' .. sink, progress)
return { 'saved' }
