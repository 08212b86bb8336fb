-- Takes one use of a grant for a call, before it runs. Further attempts of the same call take no further use.
-- ARGV
--   1 ''
--   2 id
--   3 call
--   4 audit body (JSON)
--   5 digest of the body
-- Returns
--   {'used', uses so far}
--   {'unknown'}, {'revoked'}, {'expired'}, {'spent'}
--- include audit
local id, call, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local key = KEYS[FIRST_REQUEST]
local grant = read(key, 'expires', 'uses', 'used', 'revoked', 'call:' .. call)

if not grant.expires then return { 'unknown' } end -- guard: use-grant-unknown
if grant.revoked then return { 'revoked' } end -- guard: use-grant-revoked
if tonumber(grant.expires) <= now then return { 'expired' } end -- guard: use-grant-expired
if grant['call:' .. call] then return { 'used', grant.used } end -- guard: use-grant-repeated
if tonumber(grant.used) >= tonumber(grant.uses) then return { 'spent' } end -- guard: use-grant-spent

local used = int(grant.used + 1)
redis.call('HSET', key, 'used', used, 'call:' .. call, NOW)
audit('grant-used', 'grant:' .. id, used .. ' of ' .. grant.uses .. ' ' .. call, body, digest)
return { 'used', used }
