-- Tells whether no model may be called.
local function is_model_frozen()
  return redis.call('HEXISTS', K.freezes, 'scope|*model') == 1
end

-- Returns the freeze that holds for a tool in this thread: that of all tools, the tool's own, or that of the caller whose thread it is. It
-- has its time, its id, who and why.
local function freeze_of(tool)
  local caller = string.match(thread_id, ':caller%.([^.]+)%.') or ''
  local found = redis.call('HMGET', K.freezes, 'scope|*', 'scope|' .. tool, 'scope|caller:' .. caller)
  return found[1] or found[2] or found[3] or nil
end
