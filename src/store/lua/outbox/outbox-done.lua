-- Marks an item as sent. A row is removed; a Home is published again if something has made it due since; a view stores where it was posted, and is due again if its request has changed since.
-- A view that another sender has drawn at a later revision meanwhile is due again too: this one may have replaced the later card.
-- The request is that of a view; a row has none.
-- ARGV
--   1 thread id
--   2 the item
--   3 owner of the claim
--   4 id of the view, or ''
--   5 revision that was drawn
--   6 where it was posted (JSON)
--   7 delay in ms after which a view is due once more, or 0
-- Returns
--   {'done'}               the same call again is 'done', 'due-again' or 'stale'
--   {'due-again'}
--   {'due-later'}
--   {'stale'}
--- include homes
local item, owner, view, revision, place, again = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local claim = 'claim|' .. item

local held = redis.call('HGET', K.rows, claim) == owner
if not held and not redis.call('ZSCORE', K.outbox, item) then -- guard: outbox-done-repeated
  local drawn = view ~= '' and redis.call('HGET', K.request, 'drawn:' .. view)
  if not drawn or tonumber(drawn) <= tonumber(revision) then return { 'done' } end
  redis.call('ZADD', K.outbox, NOW, item)
  report_due('outbox', now)
  return { 'due-again' }
end
if not held then return { 'stale' } end -- guard: outbox-done-stale

if string.sub(item, 1, 5) == 'home|' then
  redis.call('HDEL', K.rows, claim, 'tries|' .. item)
  -- A change makes a claimed Home due within a second, and the end of a claim is later.
  if tonumber(redis.call('ZSCORE', K.outbox, item)) <= now + HOME_MS then return { 'due-again' } end
  redis.call('ZREM', K.outbox, item)
  return { 'done' }
end
if view == '' then
  local row_id = string.sub(item, 5)
  redis.call('HDEL', K.rows, claim, 'tries|' .. item, row_id)
  redis.call('ZREM', K.outbox, item)
  -- A resent call may arrive late; the ids of the last 1,000 rows reveal it.
  redis.call('ZADD', K.sent, NOW, row_id)
  redis.call('ZREMRANGEBYRANK', K.sent, 0, -1001)
  return { 'done' }
end
redis.call('HDEL', K.rows, claim, 'tries|' .. item)
local current = redis.call('HGET', K.request, 'rev')
if current then redis.call('HSET', K.request, 'drawn:' .. view, revision, 'stands:' .. view, place) end
redis.call('ZREM', K.outbox, item)
if not current then return { 'done' } end
-- An item of its own, so that a change in the meantime is drawn at once, and the last drawing still follows.
if again > 0 then
  local later = string.gsub(item, '|again$', '') .. '|again'
  -- One that is being sent now comes too early: its claim ends here, so that it does not remove the later one.
  redis.call('HDEL', K.rows, 'claim|' .. later, 'tries|' .. later)
  redis.call('ZADD', K.outbox, int(now + again), later)
  report_due('outbox', now + again)
end
if tonumber(current) > tonumber(revision) then
  redis.call('ZADD', K.outbox, NOW, item)
  report_due('outbox', now)
  return { 'due-again' }
end
return { again > 0 and 'due-later' or 'done' }
