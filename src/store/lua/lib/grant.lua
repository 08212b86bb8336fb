-- Grants, all in one hash. `grant|<id>` has the version, when it expires, how often it may be used and what it is for (JSON); `used|<id>` its
-- uses so far, `revoked|<id>` when and by whom, `call|<id>|<call>` that a call has taken a use. A use is taken for a call by the script
-- that starts it; further runs of the same call take no further use.
-- A grant that is over stays for a while, for a call that runs under it.
local KEPT_MS = 86400000

-- Opens the grant of a vote; `proofs` has what each person who allows it has signed with a passkey, or ''.
local function open_grant(offer, proofs)
  local stored, old = read_all(K.grants), {}
  for name in pairs(stored) do
    local ends = string.match(stored['grant|' .. string.match(name, '^%a+|([^|]*)')] or '', '^1 (%d+)')
    if not ends or ends + KEPT_MS <= now then old[#old + 1] = name end
  end
  change('HDEL', K.grants, old)
  local by, keys = {}, {}
  for person, proof in pairs(proofs) do
    by[#by + 1] = person
    if proof ~= '' then keys[person] = cjson.decode(proof).key.credential end
  end
  table.sort(by)
  local people = '{"by":' .. cjson.encode(by) .. (next(keys) and ',"keys":' .. cjson.encode(keys) or '')
  local text = people .. (offer.text == '{}' and '}' or ',' .. string.sub(offer.text, 2))
  local id, expires = offer.id, int(now + offer.for_ms)
  redis.call('HSET', K.grants, 'grant|' .. id, table.concat({ '1', expires, offer.uses, text }, ' '), 'used|' .. id, '0')
  audit('grant-opened', 'grant:' .. id, offer.uses .. ' uses by ' .. table.concat(by, ' '), offer.body, offer.digest)
end

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
