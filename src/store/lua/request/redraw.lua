-- Makes the cards of a request due, because something beside it has changed that they show, or adds further places for them.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values: cause, new for each change, or '' to add places only; views, id and place (JSON) of each
-- Returns
--   {'redrawn', number of new views}       the same call again adds none, and redraws nothing
--   {'settled', state, by}
--   {'unknown'}
--- include request
--- include views
local a = cmsgpack.unpack(ARGV[3])
local cause, views = a.cause, a.views

if not request.state then return { 'unknown' } end -- guard: redraw-unknown
-- The card of a grant shows whether it is revoked.
if request.settled_at and (#views > 0 or not request.granted) then return settled() end -- guard: redraw-settled
local is_new = cause ~= ''
if request.redrawn_for == cause then is_new = false end -- guard: redraw-repeated
if is_new then redraw('redrawn_for', cause) end
return { 'redrawn', int(add_views(views)) }
