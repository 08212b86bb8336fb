-- Lets further people decide, because the first ones have not, and places their cards.
-- ARGV
--   1 thread id
--   2 request id
--   3 id of the notice's outbox row
--   4 the row (JSON)
--   5 number of views, then id and place (JSON) of each
-- Returns
--   {'escalated'}
--   {'settled', state, by}
--   {'not-due'}            also for the same call again
--   {'unknown'}
--- include request
--- include views
--- include send
local row_id, row = ARGV[3], ARGV[4]
local escalate_to = request.escalate_to or ''

if not request.state then -- guard: escalate-unknown
  forget('escalate')
  return { 'unknown' }
end
if request.state ~= 'pending' then return settled() end -- guard: escalate-settled
local at = redis.call('ZSCORE', K.timers, 'escalate|' .. request_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: escalate-due

forget('escalate')
redis.call('HSET', K.request, 'principals', request.principals .. ' ' .. escalate_to, 'escalated_at', NOW)
list_for(escalate_to)
add_views(reader(5))
send(row_id, row)
redraw()
audit('escalated', request_id, escalate_to, '', '')
return { 'escalated' }
