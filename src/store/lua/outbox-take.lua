-- Gives one sender what is due in a shard's outbox, for a while; what is not done by then is due again.
-- ARGV: '', who takes it (new for every call), how long the claim holds in ms, how many at the most.
-- Result: {'taken', item, row, tries so far, item, row, ...}; the row of a view is ''.
local owner, lease, most = ARGV[2], tonumber(ARGV[3]), ARGV[4]

local taken = { 'taken' }
for _, item in ipairs(redis.call('ZRANGEBYSCORE', K.outbox, '-inf', NOW, 'LIMIT', 0, most)) do
  local claim = 'claim|' .. item
  redis.call('ZADD', K.outbox, int(now + lease), item)
  -- Whoever else held it and never gave it back may have sent it, so that was a try as well.
  local before = redis.call('HGET', K.rows, claim)
  if before and before ~= owner then redis.call('HINCRBY', K.rows, 'tries|' .. item, 1) end -- guard: outbox-take-lapsed
  redis.call('HSET', K.rows, claim, owner)
  local row = string.sub(item, 1, 4) == 'row|' and redis.call('HGET', K.rows, string.sub(item, 5))
  taken[#taken + 1] = item
  taken[#taken + 1] = row or ''
  taken[#taken + 1] = redis.call('HGET', K.rows, 'tries|' .. item) or '0'
end
return taken
