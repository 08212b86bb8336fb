-- Adds further places for a request's card.
-- ARGV
--   1 thread id
--   2 request id
--   3 number of views, then id and place (JSON) of each
-- Returns
--   {'added', number of new views}         the same call again adds none
--   {'settled', state, by}
--   {'unknown'}
--- include request
--- include views
if not request.state then return { 'unknown' } end -- guard: add-views-unknown
if request.state ~= 'pending' and request.state ~= 'unknown' then return settled() end -- guard: add-views-settled

return { 'added', int(add_views(reader(3))) }
