-- When somebody has to look after the thread; the last word of a script counts.
local wake = nil
local function set_wake(what)
  if not wake then
    at_end(function()
      if wake[1] == 'ZREM' then redis.call('ZREM', K.wake, thread_id)
      elseif wake[3] then redis.call('ZADD', K.wake, wake[3], wake[2], thread_id)
      else redis.call('ZADD', K.wake, wake[2], thread_id) end
    end)
  end
  wake = what
end

local function wake_at(at)
  set_wake({ 'ZADD', at })
end

-- Leaves a time that is there already.
local function wake_by(at)
  set_wake({ 'ZADD', at, 'NX' })
end

local function wake_never()
  set_wake({ 'ZREM' })
end
