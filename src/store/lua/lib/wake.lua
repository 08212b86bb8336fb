-- Sets when a worker has to look at the thread. The last call in a script wins.
local wake, is_woken = nil, false
local function set_wake(...)
  if not wake then
    at_end(function()
      redis.call(unpack(wake))
      if is_woken then report_due('thread|' .. thread_id, now) end
    end)
  end
  wake = { ... }
end

local function wake_at(at)
  is_woken = at == NOW
  set_wake('ZADD', K.timers, at, 'thread|' .. thread_id)
end

-- Keeps a time that is set already.
local function wake_by(at)
  is_woken = at == NOW
  set_wake('ZADD', K.timers, 'NX', at, 'thread|' .. thread_id)
end

local function wake_never()
  is_woken = false
  set_wake('ZREM', K.timers, 'thread|' .. thread_id)
end
