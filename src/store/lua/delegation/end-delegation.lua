-- Ends a delegation before its time.
-- ARGV
--   1 ''
--   2 from whom
--   3 id of the delegation that the person was shown, or '' for the one that holds
--   4 id of the click
--   5 who
--   6 '1' if the person may end anybody's
--   7 audit body (JSON)
--   8 digest of the body
-- Returns
--   {'ended'}              also for the same call again
--   {'none'}, {'not-eligible'}
--- include audit
local from, shown, click, who, is_admin, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local found = read(K.delegations, 'from|' .. from, 'ended|' .. from)
local id, to, ends = string.match(found['from|' .. from] or '', '^%S+ (%S+) (%S+) (%d+)')

if found['ended|' .. from] == click then return { 'ended' } end -- guard: end-delegation-repeated
if not id or tonumber(ends) <= now then return { 'none' } end -- guard: end-delegation-none
if shown ~= '' and shown ~= id then return { 'none' } end -- guard: end-delegation-shown
if who ~= from and who ~= to and is_admin ~= '1' then return { 'not-eligible' } end -- guard: end-delegation-own

redis.call('HDEL', K.delegations, 'from|' .. from)
redis.call('HSET', K.delegations, 'ended|' .. from, click)
audit('delegation-ended', 'delegation:' .. from, id .. ' ' .. who, body, digest)
return { 'ended' }
