-- Notes that an item was sent: a row is gone, a view stands at that place and is due again if the record has changed since.
-- The request is that of a view; a row has none.
-- ARGV: thread, the item, who had taken it, the view's id or '', the revision that was drawn, where it stands now.
-- Result: {'done'}, {'due-again'} or {'stale'}; the same call again is 'done' or 'stale'.
local item, owner, view, revision, place = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local claim = 'claim|' .. item

if not redis.call('ZSCORE', K.outbox, item) then return { 'done' } end -- guard: outbox-done-repeated
if redis.call('HGET', K.rows, claim) ~= owner then return { 'stale' } end -- guard: outbox-done-stale

redis.call('HDEL', K.rows, claim, 'tries|' .. item)
if view == '' then
  local row_id = string.sub(item, 5)
  redis.call('HDEL', K.rows, row_id)
  redis.call('ZREM', K.outbox, item)
  -- A call that is sent again may arrive late; the ids of the last 1,000 rows of the shard tell it.
  redis.call('ZADD', K.sent, NOW, row_id)
  redis.call('ZREMRANGEBYRANK', K.sent, 0, -1001)
  return { 'done' }
end
local current = redis.call('HGET', K.request, 'rev')
if current then redis.call('HSET', K.request, 'drawn:' .. view, revision, 'stands:' .. view, place) end
if current and tonumber(current) > tonumber(revision) then
  redis.call('ZADD', K.outbox, NOW, item)
  return { 'due-again' }
end
redis.call('ZREM', K.outbox, item)
return { 'done' }
