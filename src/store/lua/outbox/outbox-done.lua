-- Marks an item as sent. A row is removed; a Home is published again if something has made it due since; the card of a request and the
-- summary of a person store where they were posted, and are due again if they have changed since. One that another sender has drawn at a
-- later revision meanwhile is due again too: this one may have replaced the later one. The request is that of a card; a row has none.
-- ARGV
--   1 thread id, or the person of a summary
--   2 named values: item; owner of the claim; revision that was drawn; place where it was posted (JSON); again, the delay in ms after
--     which it is due once more, or 0; number of the message of a summary, a new one is a new message; body, or '', and digest of the audit
--     row of a row that cannot be read; gone, the requests that are not on the summary any more
-- Returns
--   {'done'}               the same call again is 'done', 'due-again' or 'stale'
--   {'due-again'}
--   {'due-later'}
--   {'stale'}
--- include audit
--- include summary
--- include homes
local a = cmsgpack.unpack(ARGV[2])
local item, owner, revision, place, again, number, body = a.item, a.owner, tonumber(a.revision), a.place, tonumber(a.again), a.number, a.body
local claim, row_id, view = 'claim|' .. item, string.match(item, '^row|(.*)$'), string.match(item, '^view|[^|]*|([^|]*)')
local is_home = string.sub(item, 1, 5) == 'home|'
local key = view and K.ask or K.summary
local current = not row_id and not is_home and redis.call('HGET', key, 'rev')
if view and not current then
  -- The card of a Run that its plan covers.
  key = K.run
  current = redis.call('HGET', key, 'rev')
end
local drawn_field, place_field = view and 'drawn:' .. view or 'drawn', view and 'stands:' .. view or 'place'

local function make_due(name, at)
  redis.call('ZADD', K.outbox, int(at), name)
  report_due('outbox', at)
end

local held = redis.call('HGET', K.rows, claim) == owner
if not held and not redis.call('ZSCORE', K.outbox, item) then -- guard: outbox-done-repeated
  local drawn = not row_id and not is_home and redis.call('HGET', key, drawn_field)
  if not drawn or tonumber(drawn) <= revision then return { 'done' } end
  make_due(item, now)
  return { 'due-again' }
end
if not held then return { 'stale' } end -- guard: outbox-done-stale

redis.call('HDEL', K.rows, claim, 'tries|' .. item, 'since|' .. item)
-- A change makes a claimed Home due within a second, and the end of a claim is later.
if is_home and tonumber(redis.call('ZSCORE', K.outbox, item)) <= now + HOME_MS then return { 'due-again' } end
redis.call('ZREM', K.outbox, item)
if is_home then return { 'done' } end
if row_id then
  redis.call('HDEL', K.rows, row_id)
  -- A resent call may arrive late; the ids of the last 1,000 rows reveal it.
  redis.call('ZADD', K.sent, NOW, row_id)
  redis.call('ZREMRANGEBYRANK', K.sent, 0, -1001)
  if body ~= '' then audit('unreadable', row_id, '', body, a.digest) end
  return { 'done' }
end
if not current then return { 'done' } end
redis.call('HSET', key, drawn_field, int(revision), place_field, place)
if not view then
  if number ~= (redis.call('HGET', key, 'number') or '0') then
    redis.call('HSET', key, 'number', number, 'posted_at', NOW, 'posted_rev', int(revision))
  end
  keep_summary()
end
if again > 0 then
  -- For a card an item of its own, so that a change in the meantime is drawn at once, and the last drawing still follows. One that is
  -- being sent now comes too early: its claim ends here, so that it does not remove the later one.
  local later = view and string.gsub(item, '|again$', '') .. '|again' or item
  redis.call('HDEL', K.rows, 'claim|' .. later, 'tries|' .. later, 'since|' .. later)
  make_due(later, now + again)
end
if tonumber(current) > revision then
  make_due(item, now)
  return { 'due-again' }
end
local gone = {}
for i, id in ipairs(a.gone) do gone[i] = 'on|' .. id end
change('HDEL', K.summary, gone)
return { again > 0 and 'due-later' or 'done' }
