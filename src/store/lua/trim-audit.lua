-- Removes audit rows that have been exported, and keeps the link to which the rest is chained.
-- ARGV: '', the number of the last exported row, its hash.
-- Result: {'trimmed', rows removed} or {'not-as-exported'}; the same call again removes nothing.
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
