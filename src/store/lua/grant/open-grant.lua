-- Opens a grant that people have signed with their approvals.
-- ARGV
--   1 ''
--   2 id
--   3 when it expires, in ms
--   4 how often it may be used
--   5 what it is for (JSON)
--   6 audit body (JSON)
--   7 digest of the body
-- Returns
--   {'opened'}             also for a grant that was opened before
--   {'expired'}
--- include audit
local id, expires, uses, text, body, digest = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local key = KEYS[FIRST_REQUEST]

if expires <= now then return { 'expired' } end -- guard: open-grant-expired
if redis.call('EXISTS', key) == 1 then return { 'opened' } end -- guard: open-grant-repeated

redis.call('HSET', key, 'v', '1', 'expires', int(expires), 'uses', uses, 'used', '0', 'text', text)
-- A grant that is over stays for a while, so that a late copy of this call does not open it again.
redis.call('PEXPIREAT', key, int(expires + 86400000))
redis.call('ZADD', K.grants, int(expires), id)
redis.call('ZREMRANGEBYSCORE', K.grants, '-inf', NOW)
audit('grant-opened', 'grant:' .. id, uses .. ' uses', body, digest)
return { 'opened' }
