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
-- A grant that is over stays for a while, so that a late copy of this call does not open it again.
local KEPT_MS = 86400000

if expires <= now then return { 'expired' } end -- guard: open-grant-expired
if redis.call('HEXISTS', K.grants, 'grant|' .. id) == 1 then return { 'opened' } end -- guard: open-grant-repeated

local stored, old = read_all(K.grants), {}
for name in pairs(stored) do
  local ends = string.match(stored['grant|' .. string.match(name, '^%a+|([^|]*)')] or '', '^1 (%d+)')
  if not ends or ends + KEPT_MS <= now then old[#old + 1] = name end
end
change('HDEL', K.grants, old)
redis.call('HSET', K.grants, 'grant|' .. id, table.concat({ '1', int(expires), uses, text }, ' '), 'used|' .. id, '0')
audit('grant-opened', 'grant:' .. id, uses .. ' uses', body, digest)
return { 'opened' }
