-- Puts a request onto a person's digest, or notes that a request on it has changed.
-- ARGV
--   1 the person, in the place of a thread
--   2 request id
--   3 revision of the request
--   4 delay in ms after which the digest is drawn
-- Returns
--   {'listed'}             the same call again changes nothing
--- include digest
local known = string.match(digest['on|' .. ARGV[2]] or '', '%d+$')
if known and tonumber(known) >= tonumber(ARGV[3]) then return { 'listed' } end -- guard: digest-note-repeated

return list(ARGV[2], ARGV[3], ARGV[4])
