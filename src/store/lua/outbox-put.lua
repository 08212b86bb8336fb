-- Writes down a message that has to be sent, before anybody sends it.
-- ARGV: thread, the row's id, the row.
-- Result: {'put'}; the same call again changes nothing.
local row_id, row = ARGV[2], ARGV[3]

if redis.call('HEXISTS', K.rows, row_id) == 1 then return { 'put' } end -- guard: outbox-put-repeated

redis.call('HSET', K.rows, row_id, row)
redis.call('ZADD', K.outbox, int(now), 'row|' .. row_id)
return { 'put' }
