-- Keeps a file with its thread, once, or removes it.
-- ARGV
--   1 thread id
--   2 id of the file
--   3 the file, or '' to remove it
--   4 most bytes that a thread keeps
-- Returns
--   {'written'}            also for the same call again
--   {'unknown-thread'}
--   {'full'}
local id, file, most = ARGV[2], ARGV[3], tonumber(ARGV[4])

if redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: write-file-unknown
local size = redis.call('HSTRLEN', K.files, id)
if file ~= '' and size > 0 then return { 'written' } end -- guard: write-file-repeated
local kept = tonumber(redis.call('HGET', K.thread, 'file_bytes') or '0')
if file ~= '' and kept + #file > most then return { 'full' } end -- guard: write-file-full

if file == '' then redis.call('HDEL', K.files, id) else redis.call('HSET', K.files, id, file) end
redis.call('HSET', K.thread, 'file_bytes', int(kept - size + #file))
return { 'written' }
