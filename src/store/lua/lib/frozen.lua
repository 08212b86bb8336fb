-- Returns the freeze that holds for a tool in this shard, the one of all tools first: its epoch, its time, its id, who and why.
local function freeze_of(tool)
  local found = redis.call('HMGET', K.frozen, 'scope|*', 'scope|' .. tool)
  return found[1] or found[2] or nil
end
