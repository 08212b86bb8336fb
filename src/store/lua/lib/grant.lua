-- Grants. A use is taken for a call by the script that starts it; further runs of the same call take no further use.
-- Returns why a call may not run under a grant, or nil and its uses so far, then whether it has taken one.
local function read_grant(key, call)
  local grant = read(key, 'expires', 'uses', 'used', 'revoked', 'call:' .. call)
  if not grant.expires then return 'unknown' end -- guard: grant-unknown
  if grant.revoked then return 'revoked' end -- guard: grant-revoked
  if tonumber(grant.expires) <= now then return 'expired' end -- guard: grant-expired
  if grant['call:' .. call] then return nil, grant.used, true end -- guard: grant-repeated
  if tonumber(grant.used) >= tonumber(grant.uses) then return 'spent' end -- guard: grant-spent
  return nil, grant.used, false
end

-- Takes one use, and returns the uses so far.
local function use_grant(id, key, call, body, digest)
  local _, used, has_taken = read_grant(key, call)
  if has_taken then return used end
  used = int(used + 1)
  redis.call('HSET', key, 'used', used, 'call:' .. call, NOW)
  audit('grant-used', 'grant:' .. id, used .. ' of ' .. redis.call('HGET', key, 'uses') .. ' ' .. call, body, digest)
  return used
end
