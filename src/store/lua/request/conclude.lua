-- Says how an action goes on that paused while it ran: how it ended, or what it waits for now. Only the turn that has its thread may.
-- ARGV
--   1 thread id
--   2 request id
--   3 token of the turn
--   4 'succeeded', 'failed', 'superseded', or 'paused' if it still waits
--   5 summary for people (JSON), or the reason
--   6 audit body (JSON)
--   7 digest of the body
-- Returns
--   {'concluded', state}   also for the same call again
--   {'settled', state, by}
--   {'stale'}              another turn has the thread
--   {'unknown'}
--- include request
local token, outcome, payload, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local thread = read(K.thread, 'token', 'owner')

if not request.state then return { 'unknown' } end -- guard: conclude-unknown
if request.state == outcome and request.payload == payload then return { 'concluded', outcome } end -- guard: conclude-repeated
if request.state ~= 'paused' then return settled() end -- guard: conclude-settled
if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: conclude-stale

if outcome == 'paused' then
  redraw('payload', payload)
else
  local before, after, people = {}, {}, requesters()
  -- Lists name the plan, and not each of its steps.
  if request.plan and not request.alone then people = {} end -- guard: conclude-step
  if #people > 0 and (request.by or '') ~= '' and not is_requester(request.by) then append(people, { request.by }) end
  for _, person in ipairs(people) do
    append(before, { index_member(person, request.settled_at) })
    append(after, { '0', index_member(person, now) })
  end
  change('ZREM', K.decided, before)
  change('ZADD', K.decided, after)
  set_timer('purge', now + request.keep)
  enter(outcome, 'payload', payload, 'settled_at', NOW)
end
local interrupt = interrupt_of(request_id)
if redis.call('HEXISTS', K.round, interrupt) == 1 then
  redis.call('HSET', K.round, interrupt, outcome .. '\n' .. (request.by or '') .. '\n' .. payload)
end
audit(outcome, request_id, 'continued', body, digest)
return { 'concluded', outcome }
