-- Adds the tokens of one model call to the usage of a day, once.
-- ARGV
--   1 the day, which is part of the key
--   2 id of the model call
--   3 thread id
--   4 person who asked
--   5 channel and model, as 'channel|model'
--   6 input tokens
--   7 output tokens
--   8 the part of the input that was cached
--   9 the part of the output that was reasoning
--  10 how long the day is kept, in ms
-- Returns
--   {'spent', tokens of the bot, of the person, of the thread}    the same reply for the same call again
local call, thread, person, place = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- The calls of a thread come one after another, so its last one is enough to recognize a resent copy.
local last = words(redis.call('HGET', K.usage, 'last|' .. thread))
if last[1] == call then return { 'spent', last[2], last[3], last[4] } end -- guard: spend-repeated

local function add(field, amount)
  return int(redis.call('HINCRBY', K.usage, field, amount))
end

local tokens = int(ARGV[6] + ARGV[7])
local totals = { add('all', tokens), add('person|' .. person, tokens), add('thread|' .. thread, tokens) }
local row = '|' .. person .. '|' .. place
add('calls' .. row, 1)
add('input' .. row, ARGV[6])
add('output' .. row, ARGV[7])
add('cached' .. row, ARGV[8])
add('reasoning' .. row, ARGV[9])
redis.call('HSET', K.usage, 'last|' .. thread, call .. ' ' .. table.concat(totals, ' '))
redis.call('PEXPIRE', K.usage, ARGV[10])
return { 'spent', unpack(totals) }
