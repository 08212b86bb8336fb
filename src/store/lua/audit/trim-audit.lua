-- Removes exported audit rows, and keeps the hash that the rest is chained to; removes old checkpoints with them.
-- ARGV
--   1 ''
--   2 number of the last exported row, or 0
--   3 its hash
--   4 number of the first checkpoint that stays, or 0
-- Returns
--   {'trimmed', rows removed, checkpoints removed}    the same call again removes none
--   {'not-as-exported'}
local last, hash, first = ARGV[2], ARGV[3], ARGV[4]
local is_trimmed, rows = false, 0
if tonumber(last) <= tonumber(redis.call('HGET', K.head, 'base') or '0') then is_trimmed = true end -- guard: trim-repeated
local row = not is_trimmed and redis.call('XRANGE', K.audit, last .. '-0', last .. '-0')[1] or { '', {} }
local kept = nil
for i = 1, #row[2], 2 do
  if row[2][i] == 'h' then kept = row[2][i + 1] end
end
if not is_trimmed and kept ~= hash then return { 'not-as-exported' } end -- guard: trim-exported

if not is_trimmed then
  redis.call('HSET', K.head, 'base', last, 'base_hash', hash)
  rows = redis.call('XTRIM', K.audit, 'MINID', int(last + 1) .. '-0')
end
return { 'trimmed', int(rows), int(redis.call('XTRIM', K.checkpoints, 'MINID', first .. '-0')) }
