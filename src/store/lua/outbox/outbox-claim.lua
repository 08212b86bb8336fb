-- Gives one sender the items that are due in the outbox. An item that is not done when the claim ends is due again.
-- ARGV
--   1 ''
--   2 owner, new for every call
--   3 length of the claim in ms
--   4 most items
-- Returns
--   {'claimed', item, row, failed tries, item, row, ...}   the row of a view is '', that of a Home until when it is kept and its page
local owner, lease, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local claimed, claims = { 'claimed' }, {}
local due = redis.call('ZRANGEBYSCORE', K.outbox, '-inf', NOW, 'WITHSCORES', 'LIMIT', 0, most)
for i = 1, #due, 2 do
  local item = due[i]
  local claim, tries = 'claim|' .. item, 'tries|' .. item
  local row_id = string.match(item, '^row|(.*)$') or string.match(item, '^home|.*$') or ''
  local found = redis.call('HMGET', K.rows, claim, tries, row_id)
  local before, failed, row = found[1], found[2] or '0', found[3]
  -- An earlier owner whose claim ran out may have sent it, so that counts as a try.
  if before and before ~= owner then failed = int(redis.call('HINCRBY', K.rows, tries, 1)) end -- guard: outbox-claim-lapsed
  redis.call('HSET', K.rows, claim, owner)
  -- A retry moves the item, and its age counts from when it was due first.
  redis.call('HSETNX', K.rows, 'since|' .. item, due[i + 1])
  append(claims, { int(now + lease), item })
  append(claimed, { item, row or '', failed })
end
change('ZADD', K.outbox, claims)
-- A full claim means that there may be more.
if #claims == 2 * most then report_due('outbox', now) end
return claimed
