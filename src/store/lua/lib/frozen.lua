-- Tells whether no model may be called.
local function is_model_frozen()
  return redis.call('HEXISTS', K.freezes, 'scope|*model') == 1
end

-- Returns the freeze that holds for a tool, the one of all tools first: its time, its id, who and why.
local function freeze_of(tool)
  local found = redis.call('HMGET', K.freezes, 'scope|*', 'scope|' .. tool)
  return found[1] or found[2] or nil
end
