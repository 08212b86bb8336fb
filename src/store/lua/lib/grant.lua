-- Grants, all in one hash. `grant|<id>` has the version, when it expires, how often it may be used and what it is for (JSON); `used|<id>` its
-- uses so far, `revoked|<id>` when and by whom, `call|<id>|<call>` that a call has taken a use. A use is taken for a call by the script
-- that starts it; further runs of the same call take no further use.
-- Returns why a call may not run under a grant, or nil and its uses so far, how many there may be, and whether the call has taken one.
local function read_grant(id, call)
  local found = redis.call('HMGET', K.grants, 'grant|' .. id, 'used|' .. id, 'revoked|' .. id, 'call|' .. id .. '|' .. call)
  local used, expires, uses = found[2], string.match(found[1] or '', '^1 (%d+) (%d+) ')
  if not expires then return 'unknown' end -- guard: grant-unknown
  if found[3] then return 'revoked' end -- guard: grant-revoked
  if tonumber(expires) <= now then return 'expired' end -- guard: grant-expired
  if found[4] then return nil, used, uses, true end -- guard: grant-repeated
  if tonumber(used) >= tonumber(uses) then return 'spent' end -- guard: grant-spent
  return nil, used, uses, false
end

-- Takes one use, and returns the uses so far.
local function use_grant(id, call, body, digest)
  local _, used, uses, has_taken = read_grant(id, call)
  if has_taken then return used end
  used = int(used + 1)
  redis.call('HSET', K.grants, 'used|' .. id, used, 'call|' .. id .. '|' .. call, NOW)
  audit('grant-used', 'grant:' .. id, used .. ' of ' .. uses .. ' ' .. call, body, digest)
  return used
end
