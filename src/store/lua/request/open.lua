-- Opens one Run with its Ask, from a source that is no thread: it waits in no round, and its end is work of its own. With two requests,
-- it takes the place of the second, which has ended; that is what was due for that end.
-- ARGV
--   1 thread id, the channel of its card
--   2 named values: request, as one of `suspend`; former, the id of the one that it takes the place of, or ''
-- Returns
--   {'opened'}             also for the same call again, and if another process has opened it
--   {'not-due'}            somebody has seen to the end of the former one
--- include open
local a = cmsgpack.unpack(ARGV[2])
local asked, former = a.request, a.former

if redis.call('EXISTS', K.ask) == 1 then return { 'opened' } end -- guard: open-repeated
if former ~= '' and not redis.call('ZSCORE', K.timers, 'ended|' .. former) then return { 'not-due' } end -- guard: open-former

local people = {}
open_request(asked, 1, people, function() return now end)
refresh_homes(people)
if former ~= '' then
  redis.call('HSET', KEYS[FIRST_REQUEST + 4], 'again', asked.id)
  redis.call('ZREM', K.timers, 'ended|' .. former)
end
return { 'opened' }
