-- Keeps an attempt alive, and stores its progress. Only the first card, which is in the thread, shows progress.
-- ARGV
--   1 thread id
--   2 request id
--   3 attempt
--   4 heartbeat timeout in ms
--   5 progress, or ''
-- Returns
--   {'alive'}              the same call again redraws nothing
--   {'lost', state}
--- include request
local attempt, timeout, progress = ARGV[3], tonumber(ARGV[4]), ARGV[5]

if request.state ~= 'started' or request.attempt ~= attempt then return { 'lost', request.state or '' } end -- guard: heartbeat-lost

set_timer('recover', now + timeout)
if progress == '' then return { 'alive' } end
if request.progress == progress then return { 'alive' } end -- guard: heartbeat-repeated
redis.call('HSET', K.run, 'progress', progress)
local first = words(request.views)[1]
if first then
  redis.call('ZADD', K.outbox, 'NX', NOW, 'view|' .. request_id .. '|' .. first)
  report_due('outbox', now)
end
return { 'alive' }
