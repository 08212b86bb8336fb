-- Gives one attempt the right to carry an approved action out; it is on record before the effect.
-- ARGV: thread, request, the attempt (new for every try), the digest as it is now, how long the attempt may be silent in
-- ms, what is said of it (JSON), its digest, the people whose approval still counts.
-- Result: {'started', which try}, {'superseded', why}, {'settled', state, by}, {'not-approved', state} or {'unknown'}; the
-- same attempt again is 'started'.
--- include request
local attempt, digest_now, silence, body, digest, still = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]

if not request.state then return { 'unknown' } end -- guard: start-unknown
if request.state == 'started' and request.attempt == attempt then return { 'started', request.attempts } end -- guard: start-repeated
if request.state == 'pending' then return { 'not-approved', request.state } end -- guard: start-pending
if request.state ~= 'approved' then return settled() end -- guard: start-settled
local counted, seen = 0, {}
for _, person in ipairs(words(still)) do
  local signed = field('vote:' .. person) == 'approve'
  if seen[person] then signed = false end -- guard: start-distinct
  seen[person] = true
  if signed then counted = counted + 1 end
end
local problem = nil
if digest_now ~= request.digest then problem = 'changed' end -- guard: start-digest
if counted < tonumber(request.quorum) then problem = problem or 'quorum-lost' end -- guard: start-quorum
if problem then
  settle('superseded', '', problem)
  audit('superseded', request_id, problem, body, digest)
  return { 'superseded', problem }
end

local try = request.attempts + 1
enter('started', 'attempt', attempt, 'started_at', NOW, 'attempts', int(try), 'first_start', request.first_start or NOW)
set_to_run(false)
due('recover', now + silence)
audit('started', request_id, 'try ' .. int(try) .. ' ' .. attempt, body, digest)
return { 'started', int(try) }
