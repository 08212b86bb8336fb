-- Records what a person, or the tool's own `reconcile`, found out about an action whose outcome is unknown.
-- ARGV
--   1 thread id
--   2 request id
--   3 who
--   4 'ran', 'did-not-run' or 'run-again'
--   5 '1' if the person may resolve it
--   6 reason
--   7 audit body (JSON)
--   8 digest of the body
--   9 number of attempts that the person was shown, or ''
-- Returns
--   {'resolved', state}    also for the same verdict by the same person again
--   {'settled', state, by}
--   {'not-unknown', state}
--   {'not-as-shown'}, {'unknown'}, {'not-eligible'}, {'own-request'}
--- include request
--- include limits
local who, verdict, eligible, reason, body, digest = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local tries = ARGV[9]

if not request.state then return { 'unknown' } end -- guard: resolve-unknown
if request.verdict == verdict .. ' ' .. who then return { 'resolved', request.state } end -- guard: resolve-repeated
if request.state == 'pending' or request.state == 'approved' or request.state == 'started' then -- guard: resolve-open
  return refuse(who, body, digest, 'not-unknown', request.state)
end
if request.state ~= 'unknown' then -- guard: resolve-settled
  return refuse(who, body, digest, unpack(settled()))
end
if eligible ~= '1' then -- guard: resolve-eligible
  return refuse(who, body, digest, 'not-eligible')
end
if verdict == 'run-again' and is_barred(who) then -- guard: resolve-own
  return refuse(who, body, digest, 'own-request')
end
-- An approval is for one start of its caller.
if verdict == 'run-again' and request.elsewhere then -- guard: resolve-elsewhere
  return refuse(who, body, digest, 'not-eligible')
end
-- A person who looked after an earlier attempt has not seen what a later one did.
if tries ~= '' and tries ~= request.attempts then -- guard: resolve-shown
  return refuse(who, body, digest, 'not-as-shown')
end

audit('resolved', request_id, verdict .. ' ' .. who, body, digest)
if verdict == 'run-again' then
  enter('approved', 'attempt', '', 'verdict', verdict .. ' ' .. who, 'decided_at', NOW)
  unlist_for(request.resolvers)
  forget('recover')
  set_to_run(true)
  return { 'resolved', 'approved' }
end
if verdict == 'did-not-run' and request.action then take_back(request.action) end -- guard: resolve-did-not-run
if verdict == 'ran' then count_kept(request.done) end -- guard: resolve-done
redis.call('HSET', K.request, 'verdict', verdict .. ' ' .. who)
settle('resolved', who, verdict .. '\n' .. reason)
return { 'resolved', 'resolved' }
