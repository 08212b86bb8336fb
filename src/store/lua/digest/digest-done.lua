-- Marks a person's digest as drawn. It is due again if it has changed since, or if another sender has drawn it at a later revision meanwhile.
-- ARGV
--   1 the person, in the place of a thread
--   2 owner of the claim
--   3 revision that was drawn
--   4 where it was posted (JSON)
--   5 number of the message; a new one is a new message
--   6 delay in ms after which it is due once more, or 0
--   7 the requests that do not wait for the person any more
-- Returns
--   {'done'}               the same call again is 'done', 'due-again' or 'stale'
--   {'due-again'}
--   {'due-later'}
--   {'stale'}
--- include digest
local owner, revision, place, number, again = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local claim = 'claim|' .. item

local held = redis.call('HGET', K.rows, claim) == owner
if not held and not redis.call('ZSCORE', K.outbox, item) then -- guard: digest-done-repeated
  if tonumber(digest.drawn or '0') <= revision then return { 'done' } end
  redis.call('ZADD', K.outbox, NOW, item)
  report_due('outbox', now)
  return { 'due-again' }
end
if not held then return { 'stale' } end -- guard: digest-done-stale

redis.call('HDEL', K.rows, claim, 'tries|' .. item, 'since|' .. item)
redis.call('ZREM', K.outbox, item)
redis.call('HSET', K.digest, 'drawn', int(revision), 'place', place)
if number ~= (digest.number or '0') then
  redis.call('HSET', K.digest, 'number', number, 'posted_at', NOW, 'posted_rev', int(revision))
end
keep()
if tonumber(digest.rev or '0') > revision then
  redis.call('ZADD', K.outbox, NOW, item)
  report_due('outbox', now)
  return { 'due-again' }
end
local gone = {}
for i = 7, #ARGV do gone[#gone + 1] = 'on|' .. ARGV[i] end
change('HDEL', K.digest, gone)
if again > 0 then
  redis.call('ZADD', K.outbox, int(now + again), item)
  report_due('outbox', now + again)
end
return { again > 0 and 'due-later' or 'done' }
