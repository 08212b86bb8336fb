-- Removes exported audit rows, and keeps the hash that the rest is chained to.
-- ARGV
--   1 ''
--   2 number of the last exported row
--   3 its hash
-- Returns
--   {'trimmed', rows removed}              the same call again removes none
--   {'not-as-exported'}
local last, hash = ARGV[2], ARGV[3]
local base = tonumber(redis.call('HGET', K.head, 'base') or '0')

if tonumber(last) <= base then return { 'trimmed', '0' } end -- guard: trim-repeated
local row = redis.call('XRANGE', K.audit, last .. '-0', last .. '-0')[1]
local kept = nil
if row then
  for i = 1, #row[2], 2 do
    if row[2][i] == 'h' then kept = row[2][i + 1] end
  end
end
if kept ~= hash then return { 'not-as-exported' } end -- guard: trim-exported

redis.call('HSET', K.head, 'base', last, 'base_hash', hash)
return { 'trimmed', int(redis.call('XTRIM', K.audit, 'MINID', int(last + 1) .. '-0')) }
