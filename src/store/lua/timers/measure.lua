-- Measures the queues for the operator, by Redis's clock. Writes nothing.
-- ARGV
--   1 ''
-- Returns
--   {'measured', pending, approved, started and unknown requests, quarantined threads, outbox items, due outbox items,
--    age of the oldest for Slack in ms, since it was due first, work that is overdue by a minute, age of the oldest for a webhook}
local function in_state(score)
  return int(redis.call('ZCOUNT', K.states, score, score))
end
-- The next thousand are enough: what Slack refuses comes round again and again, and what was never tried is at the head.
local oldest, oldest_webhook = now, now
local next_items = redis.call('ZRANGE', K.outbox, '0', '999', 'WITHSCORES')
for i = 1, #next_items, 2 do
  local since = redis.call('HGET', K.rows, 'since|' .. next_items[i]) or next_items[i + 1]
  if string.sub(next_items[i], 1, 12) == 'row|webhook/' then oldest_webhook = math.min(oldest_webhook, tonumber(since))
  else oldest = math.min(oldest, tonumber(since)) end
end
return {
  'measured', in_state('1'), in_state('2'), in_state('3'), in_state('4'), int(redis.call('ZCARD', K.quarantined)),
  int(redis.call('ZCARD', K.outbox)), int(redis.call('ZCOUNT', K.outbox, '-inf', NOW)),
  int(now - oldest), int(redis.call('ZCOUNT', K.timers, '-inf', int(now - 60000))),
  int(now - oldest_webhook),
}
