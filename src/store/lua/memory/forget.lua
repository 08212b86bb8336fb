-- Removes notes about a channel.
-- ARGV
--   1 channel, in place of a thread
--   . ids of the notes
-- Returns
--   {'forgotten'}          also for notes that are not there
for i = 2, #ARGV do redis.call('HDEL', K.memory, ARGV[i]) end
if redis.call('EXISTS', K.memory) == 0 then redis.call('ZREM', K.noted, thread_id) end
return { 'forgotten' }
