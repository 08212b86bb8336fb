-- The summary of a person. `card|<request>` is when the person got a card of that request, `on|<request>` the revision of the summary with which
-- the request came onto it, then the revision of the request that is known here. A summary with nothing on it is kept for a day.
local DAY = 86400000

local function keep_summary()
  at_end(function()
    for _, name in ipairs(redis.call('HKEYS', K.summary)) do
      if string.sub(name, 1, 3) == 'on|' then return redis.call('PERSIST', K.summary) end
    end
    redis.call('PEXPIRE', K.summary, DAY)
  end)
end
