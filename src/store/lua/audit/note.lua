-- Writes one audit row for something that is no transition: a refusal, a change of the configuration.
-- ARGV
--   1 thread id, or ''
--   2 id of the note
--   3 event
--   4 subject
--   5 audit body (JSON)
--   6 digest of the body
-- Returns
--   {'noted'}              the same call again changes nothing
--- include audit
local note_id, event, subject, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- Another note may arrive between a note and its resent copy, so the last few ids are kept.
local recent = redis.call('HGET', K.head, 'notes') or '\n'
if string.find(recent, '\n' .. note_id .. '\n', 1, true) then return { 'noted' } end -- guard: note-repeated

redis.call('HSET', K.head, 'notes', string.sub('\n' .. note_id .. recent, 1, 2000))
audit(event, subject, '', body, digest)
return { 'noted' }
