-- Makes the cards of an open request due, because something beside the request has changed that they show.
-- ARGV
--   1 thread id
--   2 request id
-- Returns
--   {'redrawn'}
--   {'settled', state, by}
--   {'unknown'}
--- include request
if not request.state then return { 'unknown' } end -- guard: redraw-unknown
if request.settled_at then return settled() end -- guard: redraw-settled

redraw()
return { 'redrawn' }
