-- Counts a thread, and one of its requests, for `measure` by what is on record. Versions before the metrics did not count.
-- Running it again changes nothing.
-- ARGV
--   2 request id, or '' for the thread alone
-- Returns
--   {'recounted'}
if ARGV[2] ~= '' then
  local SCORES = { pending = '1', approved = '2', started = '3', unknown = '4' }
  local state = redis.call('HGET', K.request, 'state')
  if state and SCORES[state] then
    redis.call('ZADD', K.states, SCORES[state], ARGV[2])
  else
    redis.call('ZREM', K.states, ARGV[2])
  end
end
if redis.call('HGET', K.thread, 'quarantine') then
  redis.call('ZADD', K.quarantined, 'NX', NOW, thread_id)
else
  redis.call('ZREM', K.quarantined, thread_id)
end
return { 'recounted' }
