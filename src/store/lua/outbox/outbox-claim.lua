-- Gives one sender the items that are due in a shard's outbox. An item that is not done when the claim ends is due again.
-- ARGV
--   1 ''
--   2 owner, new for every call
--   3 length of the claim in ms
--   4 most items
-- Returns
--   {'claimed', item, row, failed tries, item, row, ...}   the row of a view is ''
local owner, lease, most = ARGV[2], tonumber(ARGV[3]), ARGV[4]

local claimed = { 'claimed' }
for _, item in ipairs(redis.call('ZRANGEBYSCORE', K.outbox, '-inf', NOW, 'LIMIT', 0, most)) do
  local claim = 'claim|' .. item
  redis.call('ZADD', K.outbox, int(now + lease), item)
  -- An earlier owner whose claim ran out may have sent it, so that counts as a try.
  local before = redis.call('HGET', K.rows, claim)
  if before and before ~= owner then redis.call('HINCRBY', K.rows, 'tries|' .. item, 1) end -- guard: outbox-claim-lapsed
  redis.call('HSET', K.rows, claim, owner)
  local row = string.sub(item, 1, 4) == 'row|' and redis.call('HGET', K.rows, string.sub(item, 5))
  claimed[#claimed + 1] = item
  claimed[#claimed + 1] = row or ''
  claimed[#claimed + 1] = redis.call('HGET', K.rows, 'tries|' .. item) or '0'
end
return claimed
