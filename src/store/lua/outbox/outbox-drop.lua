-- Removes a row that cannot be read from the outbox; the audit log keeps its text.
-- ARGV
--   1 ''
--   2 the item
--   3 owner of the claim
--   4 audit body (JSON)
--   5 digest of the body
-- Returns
--   {'dropped'}
--   {'stale'}              also for the same call again
--- include audit
local item, owner, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local claim, row_id = 'claim|' .. item, string.sub(item, 5)

if redis.call('HGET', K.rows, claim) ~= owner then return { 'stale' } end -- guard: outbox-drop-stale

redis.call('HDEL', K.rows, row_id, claim, 'tries|' .. item, 'since|' .. item)
redis.call('ZREM', K.outbox, item)
audit('unreadable', row_id, '', body, digest)
return { 'dropped' }
