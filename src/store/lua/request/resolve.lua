-- Records what a person, or the tool's own `reconcile`, found out about an action whose outcome is unknown.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values: who; verdict, 'ran', 'did-not-run' or 'run-again'; eligible, '1' if the person may; reason; tries, the number of
--     attempts that the person was shown, or ''; body and digest of the audit row
-- Returns
--   {'resolved', state}    also for the same verdict by the same person again
--   {'settled', state, by}
--   {'not-unknown', state}
--   {'not-as-shown'}, {'unknown'}, {'not-eligible'}, {'own-request'}
--- include request
--- include limits
local a = cmsgpack.unpack(ARGV[3])
local who, verdict, eligible, reason, tries, body, digest = a.who, a.verdict, a.eligible, a.reason, a.tries, a.body, a.digest

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
-- Running again is what was approved, once more: one person says so only where one approval by a click was enough.
local is_weaker = request.unsigned ~= '1' and (tonumber(request.quorum) > 1 or request.passkey)
if verdict == 'run-again' and is_weaker then -- guard: resolve-terms
  return refuse(who, body, digest, 'not-eligible')
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
  set_run('attempt', '', 'verdict', verdict .. ' ' .. who)
  enter('approved', { decided_at = NOW })
  unlist_for(request.resolvers)
  forget('recover')
  set_to_run(true)
  return { 'resolved', 'approved' }
end
if verdict == 'did-not-run' and request.action then take_back(request.action) end -- guard: resolve-did-not-run
if verdict == 'ran' then count_kept(request.done) end -- guard: resolve-done
set_run('verdict', verdict .. ' ' .. who)
settle('resolved', who, verdict .. '\n' .. reason)
return { 'resolved', 'resolved' }
