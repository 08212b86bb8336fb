-- Lets a request's card stand in further places.
-- ARGV: thread, request, views (count, then id and place of each).
-- Result: {'added', how many were new}, {'settled', state, by} or {'unknown'}; the same call again adds none.
--- include request
if not request.state then return { 'unknown' } end -- guard: add-views-unknown
if request.state ~= 'pending' and request.state ~= 'unknown' then return settled() end -- guard: add-views-settled

local next_arg = reader(3)
local added = 0
for _ = 1, tonumber(next_arg()) do
  local view, place = next_arg(), next_arg()
  if redis.call('HSETNX', K.request, 'view:' .. view, place) == 1 then
    added = added + 1
    request.views = request.views .. ' ' .. view
    redis.call('ZADD', K.outbox, NOW, 'view|' .. request_id .. '|' .. view)
  end
end
redis.call('HSET', K.request, 'views', request.views)
return { 'added', int(added) }
