-- Keeps a file with its thread, once.
-- ARGV
--   1 thread id
--   2 id of the file
--   3 the file
--   4 most bytes that a thread keeps
-- Returns
--   {'kept'}               also for the same call again
--   {'unknown-thread'}
--   {'full'}
local id, file, most = ARGV[2], ARGV[3], tonumber(ARGV[4])

if redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: keep-file-unknown
if redis.call('HEXISTS', K.files, id) == 1 then return { 'kept' } end -- guard: keep-file-repeated
local kept = tonumber(redis.call('HGET', K.thread, 'file_bytes') or '0')
if kept + #file > most then return { 'full' } end -- guard: keep-file-full

redis.call('HSET', K.files, id, file)
redis.call('HSET', K.thread, 'file_bytes', int(kept + #file))
return { 'kept' }
