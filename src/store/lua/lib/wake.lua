-- When somebody has to look after the thread; the last word of a script counts.
local wake = nil
local function set_wake(...)
  if not wake then at_end(function() redis.call(unpack(wake)) end) end
  wake = { ... }
end

local function wake_at(at)
  set_wake('ZADD', K.wake, at, thread_id)
end

-- Leaves a time that is there already.
local function wake_by(at)
  set_wake('ZADD', K.wake, 'NX', at, thread_id)
end

local function wake_never()
  set_wake('ZREM', K.wake, thread_id)
end
