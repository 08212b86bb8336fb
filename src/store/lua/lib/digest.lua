-- The digest of a person. `card|<request>` is when the person got a card of that request, `on|<request>` the revision of the digest with which
-- the request came onto it, then the revision of the request that is known here. A digest with nothing on it is kept for a day.
local DAY = 86400000
local item = 'digest|' .. thread_id
local digest = read_all(K.digest)

local function keep()
  at_end(function()
    for _, name in ipairs(redis.call('HKEYS', K.digest)) do
      if string.sub(name, 1, 3) == 'on|' then return redis.call('PERSIST', K.digest) end
    end
    redis.call('PEXPIRE', K.digest, DAY)
  end)
end

-- Makes the digest due. One that is being drawn is drawn once more afterwards, and one that Slack has refused keeps its time.
local function make_due(at)
  local state = redis.call('HMGET', K.rows, 'claim|' .. item, 'tries|' .. item)
  if state[1] or state[2] then return end -- guard: digest-due-held
  local before = redis.call('ZSCORE', K.outbox, item)
  if not before or tonumber(before) > at then redis.call('ZADD', K.outbox, int(at), item) end
  report_due('outbox', at)
end

-- Puts a request onto the digest, or notes that it has changed.
local function list(request_id, revision, delay)
  local rev = int(tonumber(digest.rev or '0') + 1)
  local came = string.match(digest['on|' .. request_id] or '', '^%d+') or rev
  redis.call('HSET', K.digest, 'rev', rev, 'on|' .. request_id, came .. ' ' .. revision)
  make_due(now + tonumber(delay))
  keep()
  return { 'listed' }
end
