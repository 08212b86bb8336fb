-- Records how far the undo of an action is. It only goes forward: offered, over, asked, linked, ended.
-- ARGV
--   1 thread id
--   2 request id
--   3 step
--   4 note (JSON)
--   5 for 'offered', how long after its success it is offered, in ms
-- Returns
--   {'noted'}              also for a step that is behind, and for the same call again
--   {'settled', state, by} it has not succeeded
--   {'not-due'}            the offer is not over yet
--   {'unknown'}
--- include request
local step, note, within = ARGV[3], ARGV[4], ARGV[5]
local RANKS = { offered = 1, over = 2, asked = 3, linked = 4, ended = 5 }

if not request.state then -- guard: note-undo-unknown
  forget('undo')
  return { 'unknown' }
end
if request.runs then return { 'unknown' } end -- guard: note-undo-plan
if request.state ~= 'succeeded' then return settled() end -- guard: note-undo-settled
if RANKS[step] <= (RANKS[request.undo_step] or 0) then return { 'noted' } end -- guard: note-undo-behind
local at = redis.call('ZSCORE', K.timers, 'undo|' .. request_id)
if step == 'over' and (not at or now < tonumber(at)) then return { 'not-due' } end -- guard: note-undo-due

if step == 'offered' then
  set_run('undo_step', step)
  due('undo', request.settled_at + within)
else
  forget('undo')
  set_run('undo_step', step, 'undo:' .. step, note)
  redraw()
end
return { 'noted' }
