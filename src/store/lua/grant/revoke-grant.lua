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
local found = redis.call('HMGET', K.grants, 'grant|' .. id, 'used|' .. id, 'revoked|' .. id)
local used, revoked = found[2], found[3]

if not used then return { 'unknown' } end -- guard: revoke-grant-unknown
if eligible ~= '1' then return { 'not-eligible' } end -- guard: revoke-grant-eligible
if ARGV[7] == '1' then
  local kept = string.match(found[1], '^1 %d+ %d+ ')
  redis.call('HSET', K.grants, 'grant|' .. id, kept .. '{}', 'revoked|' .. id, NOW .. ' ' .. who)
end
if revoked then return { 'revoked', used } end -- guard: revoke-grant-repeated

redis.call('HSET', K.grants, 'revoked|' .. id, NOW .. ' ' .. who)
audit('grant-revoked', 'grant:' .. id, who .. ' after ' .. used, body, digest)
return { 'revoked', used }
