-- Freezes a tool or all of them: nothing of it starts from then on. A timer has the cards of open requests show it.
-- ARGV
--   1 ''
--   2 tool, or '*' for all
--   3 id of the freeze
--   4 who and why (JSON)
--   5 audit body (JSON)
--   6 digest of the body
-- Returns
--   {'frozen'}             also for the same call again
--   {'already-frozen'}
--- include audit
local scope, id, text, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local current = redis.call('HGET', K.freezes, 'scope|' .. scope)

if current and string.match(current, '^%S+ (%S+)') == id then return { 'frozen' } end -- guard: freeze-repeated
if current then return { 'already-frozen' } end -- guard: freeze-frozen

redis.call('HSET', K.freezes, 'scope|' .. scope, table.concat({ NOW, id, text }, ' '))
redis.call('ZADD', K.timers, NOW, 'freeze|' .. id)
report_due('freeze|' .. id, now)
audit('frozen', 'freeze:' .. scope, id, body, digest)
return { 'frozen' }
