-- Takes a row that cannot be read out of the outbox; what it said is kept in the audit log.
-- ARGV: '', the item, who had taken it, what is said of it (JSON), its digest.
-- Result: {'dropped'} or {'stale'}; the same call again is 'stale'.
--- include audit
local item, owner, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local claim, row_id = 'claim|' .. item, string.sub(item, 5)

if redis.call('HGET', K.rows, claim) ~= owner then return { 'stale' } end -- guard: outbox-drop-stale

redis.call('HDEL', K.rows, row_id, claim, 'tries|' .. item)
redis.call('ZREM', K.outbox, item)
audit('unreadable', row_id, '', body, digest)
return { 'dropped' }
