-- Records that a person wants to end a freeze, and ends it if enough do. A timer has the cards show it, and wakes what it held.
-- ARGV
--   1 ''
--   2 named values: scope, a tool, or '*' for the freeze of all; shown, the id of the freeze that the person was shown, or '' for the one
--     that holds; click, its id; who; eligible, '1' if the person may; quorum, how many must; still, the others who may still, of those who
--     wanted it before; body and digest of the audit row
-- Returns
--   {'unfrozen'}           also for the same call again
--   {'voted', how many so far}
--   {'not-frozen'}, {'not-as-shown'}, {'not-eligible'}
--- include audit
local a = cmsgpack.unpack(ARGV[2])
local scope, shown, click, who, eligible, quorum, still, body, digest =
  a.scope, a.shown, a.click, a.who, a.eligible, tonumber(a.quorum), a.still, a.body, a.digest
local found = read(K.freezes, 'scope|' .. scope, 'votes|' .. scope, 'ended|' .. scope)
local freeze, subject = found['scope|' .. scope], 'freeze:' .. scope

if found['ended|' .. scope] == click then return { 'unfrozen' } end -- guard: unfreeze-repeated
if not freeze then return { 'not-frozen' } end -- guard: unfreeze-frozen
if shown ~= '' and shown ~= string.match(freeze, '^%S+ (%S+)') then return { 'not-as-shown' } end -- guard: unfreeze-shown
if eligible ~= '1' then return { 'not-eligible' } end -- guard: unfreeze-eligible

local counted, count, has_voted = {}, 1, false
for _, person in ipairs(words(still)) do counted[person] = true end
for _, person in ipairs(words(found['votes|' .. scope])) do
  if person == who then has_voted = true end -- guard: unfreeze-voted
  if counted[person] and person ~= who then count = count + 1 end -- guard: unfreeze-still
end
if not has_voted then
  redis.call('HSET', K.freezes, 'votes|' .. scope, (found['votes|' .. scope] or '') .. ' ' .. who)
  audit('unfreeze-voted', subject, who .. ' ' .. int(count) .. ' of ' .. int(quorum), body, digest)
end
if count < quorum then return { 'voted', int(count) } end -- guard: unfreeze-quorum

redis.call('HDEL', K.freezes, 'scope|' .. scope, 'votes|' .. scope)
redis.call('HSET', K.freezes, 'ended|' .. scope, click)
redis.call('ZADD', K.timers, NOW, 'freeze|' .. click)
report_due('freeze|' .. click, now)
audit('unfrozen', subject, who, body, digest)
return { 'unfrozen' }
