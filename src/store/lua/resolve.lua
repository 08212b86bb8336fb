-- Records what a person (or the tool's own reconciling) says of an action whose outcome is unknown.
-- ARGV: thread, request, who, 'ran', 'did-not-run' or 'run-again', '1' if they may resolve it, the reason, what is said of
-- it (JSON), its digest, how many tries they were shown ('' where nobody was shown any).
-- Result: {'resolved', state}, {'settled', state, by}, {'not-unknown', state}, {'not-as-shown'}, {'unknown'} or {'not-eligible'};
-- the same verdict by the same person again is 'resolved'.
--- include request
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
-- Whoever looked after an earlier try has not seen what a later one did.
if tries ~= '' and tries ~= request.attempts then -- guard: resolve-shown
  return refuse(who, body, digest, 'not-as-shown')
end

audit('resolved', request_id, verdict .. ' ' .. who, body, digest)
if verdict == 'run-again' then
  enter('approved', 'attempt', '', 'verdict', verdict .. ' ' .. who)
  unlist_for(request.resolvers)
  set_to_run(true)
  return { 'resolved', 'approved' }
end
redis.call('HSET', K.request, 'verdict', verdict .. ' ' .. who)
settle('resolved', who, verdict .. '\n' .. reason)
return { 'resolved', 'resolved' }
