-- Adds a message to the outbox, due now or at a later time, and returns whether it is new. A row that waits already, or was sent
-- recently, stays as it is.
local function send(row_id, row, at)
  if redis.call('HEXISTS', K.rows, row_id) == 1 then return false end -- guard: send-waiting
  if redis.call('ZSCORE', K.sent, row_id) then return false end -- guard: send-sent
  redis.call('HSET', K.rows, row_id, row)
  redis.call('ZADD', K.outbox, string.format('%.4f', at or now), 'row|' .. row_id)
  report_due('outbox', at or now)
  return true
end
