-- Reads a number of views, then id and place (JSON) of each; adds those that the request does not have yet, and returns how many.
local function add_views(next_arg)
  local added = 0
  for _ = 1, tonumber(next_arg()) do
    local view, place = next_arg(), next_arg()
    if redis.call('HSETNX', K.request, 'view:' .. view, place) == 1 then
      added = added + 1
      request.views = request.views .. ' ' .. view
      redis.call('ZADD', K.outbox, NOW, 'view|' .. request_id .. '|' .. view)
    end
  end
  if added > 0 then
    redis.call('HSET', K.request, 'views', request.views)
    report_due('outbox', now)
  end
  return added
end
