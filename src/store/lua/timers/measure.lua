-- Measures the queues for the operator, by Redis's clock. Writes nothing.
-- ARGV
--   1 ''
-- Returns
--   {'measured', pending, approved, started and unknown requests, quarantined threads, outbox items, due outbox items,
--    age of the oldest due one in ms, work that is overdue by a minute}
local function in_state(score)
  return int(redis.call('ZCOUNT', K.states, score, score))
end
local oldest = redis.call('ZRANGE', K.outbox, '0', '0', 'WITHSCORES')[2]
return {
  'measured', in_state('1'), in_state('2'), in_state('3'), in_state('4'), int(redis.call('ZCARD', K.quarantined)),
  int(redis.call('ZCARD', K.outbox)), int(redis.call('ZCOUNT', K.outbox, '-inf', NOW)),
  int(oldest and math.max(0, now - oldest) or 0), int(redis.call('ZCOUNT', K.timers, '-inf', int(now - 60000))),
}
