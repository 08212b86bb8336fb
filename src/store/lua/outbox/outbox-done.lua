-- Marks an item as sent. A row is removed; a view stores where it was posted, and is due again if its request has changed since.
-- A view that another sender has drawn at a later revision meanwhile is due again too: this one may have replaced the later card.
-- The request is that of a view; a row has none.
-- ARGV
--   1 thread id
--   2 the item
--   3 owner of the claim
--   4 id of the view, or ''
--   5 revision that was drawn
--   6 where it was posted (JSON)
-- Returns
--   {'done'}               the same call again is 'done', 'due-again' or 'stale'
--   {'due-again'}
--   {'stale'}
local item, owner, view, revision, place = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local claim = 'claim|' .. item

local held = redis.call('HGET', K.rows, claim) == owner
if not held and not redis.call('ZSCORE', K.outbox, item) then -- guard: outbox-done-repeated
  local drawn = view ~= '' and redis.call('HGET', K.request, 'drawn:' .. view)
  if not drawn or tonumber(drawn) <= tonumber(revision) then return { 'done' } end
  redis.call('ZADD', K.outbox, NOW, item)
  return { 'due-again' }
end
if not held then return { 'stale' } end -- guard: outbox-done-stale

if view == '' then
  local row_id = string.sub(item, 5)
  redis.call('HDEL', K.rows, claim, 'tries|' .. item, row_id)
  redis.call('ZREM', K.outbox, item)
  -- A resent call may arrive late; the ids of the last 1,000 rows of the shard reveal it.
  redis.call('ZADD', K.sent, NOW, row_id)
  redis.call('ZREMRANGEBYRANK', K.sent, 0, -1001)
  return { 'done' }
end
redis.call('HDEL', K.rows, claim, 'tries|' .. item)
local current = redis.call('HGET', K.request, 'rev')
if current then redis.call('HSET', K.request, 'drawn:' .. view, revision, 'stands:' .. view, place) end
if current and tonumber(current) > tonumber(revision) then
  redis.call('ZADD', K.outbox, NOW, item)
  return { 'due-again' }
end
redis.call('ZREM', K.outbox, item)
return { 'done' }
