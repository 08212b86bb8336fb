-- Makes the cards of a request due, because something beside it has changed that they show, or adds further places for them.
-- ARGV
--   1 thread id
--   2 request id
--   3 cause, new for each change, or '' to add places only
--   4 number of views, then id and place (JSON) of each
-- Returns
--   {'redrawn', number of new views}       the same call again adds none, and redraws nothing
--   {'settled', state, by}
--   {'unknown'}
--- include request
--- include views
local cause, views = ARGV[3], tonumber(ARGV[4])

if not request.state then return { 'unknown' } end -- guard: redraw-unknown
-- The card of a grant shows whether it is revoked.
if request.settled_at and (views > 0 or not request.granted) then return settled() end -- guard: redraw-settled
local is_new = cause ~= ''
if request.redrawn_for == cause then is_new = false end -- guard: redraw-repeated
if is_new then redraw('redrawn_for', cause) end
return { 'redrawn', int(add_views(reader(4))) }
