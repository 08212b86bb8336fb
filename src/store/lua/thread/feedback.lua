-- Records what a person thinks of an answer; a later word of the same person replaces the earlier one.
-- ARGV
--   1 thread id
--   2 id of the answer
--   3 person
--   4 'good' or 'bad'
-- Returns
--   {'recorded'}           also for the same call again
--   {'unknown-thread'}
local answer, person, verdict = ARGV[2], ARGV[3], ARGV[4]

if redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: feedback-unknown

redis.call('HSET', K.feedback, answer .. ' ' .. person, verdict)
return { 'recorded' }
