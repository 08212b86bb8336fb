-- Stores the outcome of an attempt, and its message for the model. An attempt that was given up as unknown and reports after all is
-- accepted, unless a person or another attempt has moved the request on.
-- ARGV
--   1 thread id
--   2 request id
--   3 attempt
--   4 'succeeded', 'failed', or 'paused' for a call that goes on in its thread
--   5 message for the model (JSON)
--   6 summary for people (JSON)
--   7 audit body (JSON)
--   8 digest of the body
-- Returns
--   {'finished', state}    also for the same call again
--   {'stale', state}
--   {'unknown'}
--- include request
local attempt, outcome, message, payload, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

if not request.state then return { 'unknown' } end -- guard: finish-unknown
local mine = request.attempt == attempt
if mine and (request.state == 'succeeded' or request.state == 'failed' or request.state == 'paused') then return { 'finished', request.state } end -- guard: finish-repeated
if not mine or (request.state ~= 'started' and request.state ~= 'unknown') then -- guard: finish-stale
  if redis.call('HSETNX', K.request, 'late:' .. attempt, outcome) == 1 then
    audit('late', request_id, outcome .. ' ' .. attempt, body, digest)
  end
  return { 'stale', request.state }
end

redis.call('RPUSH', K.log, message)
if outcome == 'paused' then
  redis.call('HSET', K.thread, 'v', '3')
elseif redis.call('HGET', K.thread, 'v') == '1' then
  redis.call('HSET', K.thread, 'v', '2')
end
settle(outcome, request.by or '', payload)
-- A process of the version before can read the state neither here nor in the thread's round.
if outcome == 'paused' then set('v', '4') end
audit(outcome, request_id, attempt, body, digest)
return { 'finished', outcome }
