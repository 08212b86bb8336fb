-- Stores what became of an attempt, together with the message that tells the model. An attempt that was given up as unknown
-- and reports after all is believed, unless a person or another attempt has gone on from there.
-- ARGV: thread, request, the attempt, 'succeeded' or 'failed', the message, a short form of the outcome, what is said of
-- it (JSON), its digest.
-- Result: {'finished', state}, {'stale', state} or {'unknown'}; the same call again is 'finished'.
--- include request
local attempt, outcome, message, payload, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

if not request.state then return { 'unknown' } end -- guard: finish-unknown
local mine = request.attempt == attempt
if mine and (request.state == 'succeeded' or request.state == 'failed') then return { 'finished', request.state } end -- guard: finish-repeated
if not mine or (request.state ~= 'started' and request.state ~= 'unknown') then -- guard: finish-stale
  if redis.call('HSETNX', K.request, 'late:' .. attempt, outcome) == 1 then
    audit('late', request_id, outcome .. ' ' .. attempt, body, digest)
  end
  return { 'stale', request.state }
end

redis.call('RPUSH', K.log, message)
settle(outcome, request.by or '', payload)
audit(outcome, request_id, attempt, body, digest)
return { 'finished', outcome }
