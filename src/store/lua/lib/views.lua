-- Adds those views, each with its id and its place (JSON), that the request does not have yet, and returns how many.
local function add_views(views)
  local added = 0
  for _, each in ipairs(views) do
    local view, place = each[1], each[2]
    if redis.call('HSETNX', K.ask, 'view:' .. view, place) == 1 then
      added = added + 1
      request.views = request.views .. ' ' .. view
      redis.call('ZADD', K.outbox, NOW, 'view|' .. request_id .. '|' .. view)
    end
  end
  if added > 0 then
    redis.call('HSET', K.ask, 'views', request.views)
    report_due('outbox', now)
  end
  return added
end
