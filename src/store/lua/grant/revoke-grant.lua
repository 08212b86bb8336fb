-- Revokes a grant: no call takes a use of it from then on.
-- ARGV
--   1 ''
--   2 id
--   3 who
--   4 '1' if the person may
--   5 audit body (JSON)
--   6 digest of the body
--   7 '1' to forget as well what it is for
-- Returns
--   {'revoked', uses so far}     also for one that was revoked before
--   {'unknown'}, {'not-eligible'}
--- include audit
local id, who, eligible, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local key = KEYS[FIRST_REQUEST]
local grant = read(key, 'used', 'revoked')

if not grant.used then return { 'unknown' } end -- guard: revoke-grant-unknown
if eligible ~= '1' then return { 'not-eligible' } end -- guard: revoke-grant-eligible
if ARGV[7] == '1' then redis.call('HSET', key, 'text', '{}', 'revoked', NOW .. ' ' .. who) end
if grant.revoked then return { 'revoked', grant.used } end -- guard: revoke-grant-repeated

redis.call('HSET', key, 'revoked', NOW .. ' ' .. who)
redis.call('ZREM', K.grants, id)
audit('grant-revoked', 'grant:' .. id, who .. ' after ' .. grant.used, body, digest)
return { 'revoked', grant.used }
