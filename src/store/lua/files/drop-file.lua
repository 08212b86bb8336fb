-- Removes a file that its thread does not need any more.
-- ARGV
--   1 thread id
--   2 id of the file
-- Returns
--   {'dropped'}            also for the same call again
local id = ARGV[2]

local size = redis.call('HSTRLEN', K.files, id)
if size == 0 then return { 'dropped' } end -- guard: drop-file-unknown

redis.call('HDEL', K.files, id)
redis.call('HINCRBY', K.thread, 'file_bytes', -size)
return { 'dropped' }
