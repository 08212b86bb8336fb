-- Sets when a worker has to look at the thread. The last call in a script wins.
local wake = nil
local function set_wake(...)
  if not wake then at_end(function() redis.call(unpack(wake)) end) end
  wake = { ... }
end

local function wake_at(at)
  set_wake('ZADD', K.wake, at, thread_id)
end

-- Keeps a time that is set already.
local function wake_by(at)
  set_wake('ZADD', K.wake, 'NX', at, thread_id)
end

local function wake_never()
  set_wake('ZREM', K.wake, thread_id)
end
