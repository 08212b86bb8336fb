-- Writes one row into the audit log for something that is no transition: a refusal, a change of the configuration.
-- ARGV: thread or '', the note's own id, the event, its subject, what is said of it (JSON), its digest.
-- Result: {'noted'}; the same call again changes nothing.
--- include audit
local note_id, event, subject, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- Another note may come between a note and its being sent again, so a few of the last are remembered.
local recent = redis.call('HGET', K.head, 'notes') or '\n'
if string.find(recent, '\n' .. note_id .. '\n', 1, true) then return { 'noted' } end -- guard: note-repeated

redis.call('HSET', K.head, 'notes', string.sub('\n' .. note_id .. recent, 1, 2000))
audit(event, subject, '', body, digest)
return { 'noted' }
