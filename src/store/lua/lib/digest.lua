-- The digest of a person. `card|<request>` is when the person got a card of that request, `on|<request>` the revision of the digest with which
-- the request came onto it, then the revision of the request that is known here. A digest with nothing on it is kept for a day.
local DAY = 86400000

local function keep_digest()
  at_end(function()
    for _, name in ipairs(redis.call('HKEYS', K.digest)) do
      if string.sub(name, 1, 3) == 'on|' then return redis.call('PERSIST', K.digest) end
    end
    redis.call('PEXPIRE', K.digest, DAY)
  end)
end
