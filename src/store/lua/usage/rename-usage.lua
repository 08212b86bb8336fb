-- Counts what a person used on a day under another name. Running it again changes nothing.
-- ARGV
--   1 the day, which is part of the key
--   2 person
--   3 the other name
-- Returns
--   {'renamed', fields}    how many fields had the person
local person, name, renamed = ARGV[2], ARGV[3], 0
for field, count in pairs(read_all(K.usage)) do
  -- Fields are 'person|who' and 'what|who|channel|model'.
  local what, who, rest = string.match(field, '^(%a+)|([^|]*)(.*)$')
  if who == person and what ~= 'thread' and what ~= 'last' then
    redis.call('HINCRBY', K.usage, what .. '|' .. name .. rest, count)
    redis.call('HDEL', K.usage, field)
    renamed = renamed + 1
  end
end
return { 'renamed', int(renamed) }
