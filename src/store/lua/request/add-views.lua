-- Adds further places for a request's card.
-- ARGV
--   1 thread id
--   2 request id
--   3 number of views, then id and place (JSON) of each
-- Returns
--   {'added', number of new views}         the same call again adds none
--   {'settled', state, by}
--   {'unknown'}
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
