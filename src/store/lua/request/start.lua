-- Starts one attempt of an approved action; the start is on record before the effect.
-- ARGV
--   1 thread id
--   2 request id
--   3 attempt, new for every start
--   4 digest of what would run now
--   5 heartbeat timeout in ms
--   6 audit body (JSON)
--   7 digest of the body
--   8 people whose approval still counts; where the policy has groups, each with the numbers of their groups: "U1=1,2 U2=2"
--   9 tool
--  10 '1' if the caller runs it itself
--  11 action, as limits count it
--  12 what its success counts for first times: lines of window in ms and name
--  13 number of limits, then of each: name, amount, most or '' to count only, window in ms
-- Returns
--   {'started', number of the attempt}     also for the same attempt again
--   {'frozen'}                             the tool is frozen; it stays approved, and is tried again later
--   {'elsewhere'}                          its caller runs it itself, and has not started it; it stays approved until that is too late
--   {'over', number of the limit, used}    it would exceed a limit; it stays approved, and counts nothing
--   {'superseded', reason}
--   {'unknown-outcome', reason}            it was started before, so people are asked
--   {'settled', state, by}
--   {'not-approved', state}
--   {'not-next'}                           a step before it in its plan has not ended, or its plan is not approved
--   {'unknown'}
--- include request
--- include plan
--- include groups
--- include frozen
--- include limits
-- Most actions end within this time, and their card is drawn once; the others show that they are running.
local RUNNING_CARD_MS = 500
-- A freeze that ends makes what it held due at once, so this is only for a process that has missed it.
local HOLD_MS = 60000
local attempt, digest_now, timeout, body, digest, still = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]

if not request.state then return { 'unknown' } end -- guard: start-unknown
if request.state == 'started' and request.attempt == attempt then return { 'started', request.attempts } end -- guard: start-repeated
local is_open = request.state == 'pending' or request.state == 'approved'
local refusal = request.plan and is_open and request.attempts == '0' and follow_plan(body, digest)
if refusal then return refusal end -- guard: start-planned
if request.state == 'pending' then return { 'not-approved', request.state } end -- guard: start-pending
if request.state ~= 'approved' then return settled() end -- guard: start-settled
local freeze = freeze_of(ARGV[9])
if freeze then -- guard: start-frozen
  local id = string.match(freeze, '^%S+ (%S+)')
  if field('held') ~= id then -- guard: start-held
    redraw('held', id)
    audit('held', request_id, id, body, digest)
  end
  set_to_run(true, int(now + HOLD_MS))
  return { 'frozen' }
end
local counted, seen, people = 0, {}, {}
for _, word in ipairs(words(still)) do
  local person, groups = string.match(word, '^([^=]+)=?(.*)$')
  local approved = field('vote:' .. person) == 'approve'
  if is_barred(person) then approved = false end -- guard: start-own
  if seen[person] then approved = false end -- guard: start-distinct
  seen[person] = true
  if approved then
    counted = counted + 1
    people[person] = numbers(groups)
    local voted_for = numbers(field('groups:' .. person))
    for number in pairs(people[person]) do
      if not voted_for[number] then people[person][number] = nil end -- guard: start-voted-for
    end
  end
end
if request.groups then counted = filled_places(people) end -- guard: start-groups
local problem = nil
if digest_now ~= field('digest') then problem = 'changed' end -- guard: start-digest
-- A call that needed no approval was resolved to run again.
local quorum = request.unsigned == '1' and 0 or tonumber(request.quorum)
if counted < quorum then problem = problem or 'quorum-lost' end -- guard: start-quorum
-- An approval goes stale, unless the action was started in time already and is only tried again.
local decided, stale = tonumber(field('decided_at') or NOW), false
if request.start_within and now > decided + request.start_within then stale = true end -- guard: start-stale
if tonumber(request.started_at or '0') >= decided then stale = false end -- guard: start-tried
if stale then problem = problem or 'stale-approval' end
-- An earlier attempt may have taken effect, so the request does not end as one that did not run.
if problem and tonumber(request.attempts) > 0 then -- guard: start-attempted
  ask_people(problem)
  report_due('recover|' .. request_id, now)
  audit('unknown', request_id, 'try ' .. request.attempts .. ' ' .. problem, body, digest)
  return { 'unknown-outcome', problem }
end
if problem then
  settle('superseded', '', problem)
  audit('superseded', request_id, problem, body, digest)
  return { 'superseded', problem }
end
if request.elsewhere and ARGV[10] ~= '1' then -- guard: start-elsewhere
  set_to_run(true, int(decided + (request.start_within or HOLD_MS) + 1))
  return { 'elsewhere' }
end

local uses = read_uses(ARGV, 13)
local over, used = count_action(ARGV[11], uses)
if over then return { 'over', int(over), amount_text(used) } end -- guard: start-over

local try = request.attempts + 1
if #uses > 0 then set('action', ARGV[11]) end
if ARGV[12] ~= (request.done or '') then set('done', ARGV[12]) end
enter('started', 'attempt', attempt, 'started_at', NOW, 'attempts', int(try), 'first_start', request.first_start or NOW)
set_to_run(false)
drawn_at = now + RUNNING_CARD_MS
due('recover', now + timeout)
audit('started', request_id, 'try ' .. int(try) .. ' ' .. attempt, body, digest)
return { 'started', int(try) }
