-- Makes the cards of an open request, or of one with a grant, due, because something beside the request has changed that they show.
-- ARGV
--   1 thread id
--   2 request id
--   3 cause, new for each change
-- Returns
--   {'redrawn'}            also for the same cause again
--   {'settled', state, by}
--   {'unknown'}
--- include request
if not request.state then return { 'unknown' } end -- guard: redraw-unknown
if request.settled_at and not request.granted then return settled() end -- guard: redraw-settled
if request.redrawn_for == ARGV[3] then return { 'redrawn' } end -- guard: redraw-repeated

redraw('redrawn_for', ARGV[3])
return { 'redrawn' }
