-- Keeps a note about a channel, once.
-- ARGV
--   1 channel, in place of a thread
--   2 id of the note
--   3 the note (JSON)
--   4 the most notes of a channel
--   5 how long the notes are kept after the last one, in ms
-- Returns
--   {'remembered'}         also for the same call again
--   {'full'}
local id, note, most, keep = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

if redis.call('HEXISTS', K.memory, id) == 1 then return { 'remembered' } end -- guard: remember-repeated
if redis.call('HLEN', K.memory) >= most then return { 'full' } end -- guard: remember-full

redis.call('HSET', K.memory, id, NOW .. ' ' .. note)
redis.call('PEXPIRE', K.memory, keep)
redis.call('ZADD', K.noted, NOW, thread_id)
return { 'remembered' }
