-- Starts one attempt of a Run; the start is on record before the effect. It counts against its limits and takes its use of a grant.
-- A Run that people have approved is started by a worker or by its caller. A call that needs no approval is opened and started by its
-- turn, which logs the messages that made the call in the same step, so that the next turn finds the call if this one dies.
-- ARGV
--   1 thread id
--   2 run id
--   3 named values:
--     attempt, new for every start; tool; action, as limits count it; limits, of each its name, amount, most or '' to count only, window
--     in ms; body and digest of the audit row
--     an approved Run: shown, the digest of what would run now; timeout of its heartbeat in ms; still, the people whose approval still
--     counts, where the policy has groups each with the numbers of their groups ("U1=1,2 U2=2"); elsewhere, '1' if its caller runs it;
--     done, what its success counts for first times: lines of window in ms and name; frozen_by, the freeze of the manifest that holds it,
--     or ''
--     a call in a turn: token; ref; logged, the length of the log that the turn knows; messages (JSON); read, the number of inbox items
--     that they hold; grant, the id of the grant that it runs under, or ''; call, as the grant knows it; use_body and use_digest
-- Returns
--   {'started', number of the attempt, uses of the grant}    also for the same attempt again
--   {'frozen'}                             the tool is frozen; an approved Run is tried again later
--   {'over', number of the limit, used}    it would exceed a limit; it counts nothing
-- an approved Run:
--   {'elsewhere'}                          its caller runs it itself, and has not started it; it stays approved until that is too late
--   {'superseded', reason}
--   {'unknown-outcome', reason}            it was started before, so people are asked
--   {'settled', state, by}
--   {'not-approved', state}
--   {'not-next'}                           it waits for its turn in a plan
--   {'unknown'}
-- a call in a turn:
--   {'stale'}                              another turn has the thread, or the lease is over
--   {'finished'}                           the call has its result already
--   {'stopped'}                            a person asked the turn to stop
--   {'ungranted', why}                     the grant does not hold any more
--- include request
--- include groups
--- include frozen
--- include limits
--- include grant
-- Most actions end within this time, and their card is drawn once; the others show that they are running.
local RUNNING_CARD_MS = 500
-- A freeze that ends makes what it held due at once, so this is only for a process that has missed it.
local HOLD_MS = 60000
local a = cmsgpack.unpack(ARGV[3])
local body, digest, turn = a.body, a.digest, nil
local run = a.token and read_all(K.run) or request

local function grant_uses()
  return (a.grant or '') == '' and '0' or redis.call('HGET', K.grants, 'used|' .. a.grant) or '0'
end

-- The reply to a turn that may not start its call.
local function refuse_turn()
  turn = read(K.thread, 'token', 'owner', 'lease_until', 'stop', 'inbox_claimed', 'runs')
  if turn.token ~= a.token or not turn.owner then return { 'stale' } end -- guard: start-turn
  if tonumber(turn.lease_until) <= now then return { 'stale' } end -- guard: start-lease
  if run.part and run.state ~= 'paused' then return { 'finished' } end -- guard: start-finished
  if run.state == 'running' and run.attempt == a.attempt then return { 'started', run.attempts, grant_uses() } end -- guard: start-call-repeated
  if turn.stop == a.token then return { 'stopped' } end -- guard: start-stopped
end

-- The reply to a worker that may not start a Run, whatever people have approved.
local function refuse_worker()
  if not request.state then return { 'unknown' } end -- guard: start-unknown
  if request.runs then return { 'unknown' } end -- guard: start-plan
  if request.state == 'started' and request.attempt == a.attempt then return { 'started', request.attempts, '0' } end -- guard: start-repeated
  if request.plan and request.called == 'waiting' then return { 'not-next' } end -- guard: start-planned
  if request.state == 'pending' then return { 'not-approved', request.state } end -- guard: start-pending
  if request.state ~= 'approved' then return settled() end -- guard: start-settled
end

-- An approved Run whose tool is frozen waits for the end of the freeze.
local function hold(freeze)
  local id = string.match(freeze, '^%S+ (%S+)')
  if field('held') ~= id then -- guard: start-held
    redraw('held', id)
    audit('held', request_id, id, body, digest)
  end
  set_to_run(true, int(now + HOLD_MS))
end

-- The number of people, or of places of groups, whose approval counts now.
local function approvals_now()
  local counted, seen, people = 0, {}, {}
  for _, word in ipairs(words(a.still)) do
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
  return counted
end

local function approval_problem(decided)
  if a.shown ~= field('digest') then return 'changed' end -- guard: start-digest
  -- A call that needed no approval was resolved to run again.
  local quorum = request.unsigned == '1' and 0 or tonumber(request.quorum)
  if approvals_now() < quorum then return 'quorum-lost' end -- guard: start-quorum
  -- An approval goes stale, unless the action was started in time already and is only tried again.
  local stale = false
  if request.start_within and now > decided + request.start_within then stale = true end -- guard: start-stale
  if tonumber(request.started_at or '0') >= decided then stale = false end -- guard: start-tried
  return stale and 'stale-approval' or nil
end

-- The reply to the start of a Run whose approval does not hold, or that its caller has to start.
local function refuse_approval()
  local decided = tonumber(field('decided_at') or NOW)
  local problem = approval_problem(decided)
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
  if request.elsewhere and a.elsewhere ~= '1' then -- guard: start-elsewhere
    set_to_run(true, int(decided + (request.start_within or HOLD_MS) + 1))
    return { 'elsewhere' }
  end
end

-- Logs the messages of the turn, unless another call of the same round has.
local function log_messages()
  local is_logged = false
  if redis.call('LLEN', K.log) ~= tonumber(a.logged) then is_logged = true end -- guard: start-logged
  if is_logged then return end
  change('RPUSH', K.log, a.messages)
  if tonumber(a.read) > 0 then
    redis.call('LTRIM', K.inbox, a.read, -1)
    if turn.inbox_claimed then redis.call('HINCRBY', K.thread, 'inbox_claimed', -a.read) end
  end
end

local refused
if a.token then refused = refuse_turn() else refused = refuse_worker() end
if refused then return refused end
local freeze = freeze_of(a.tool)
if not freeze and (a.frozen_by or '') ~= '' then freeze = '0 manifest:' .. a.frozen_by end -- guard: start-planned-freeze
if freeze then -- guard: start-frozen
  if not a.token then hold(freeze) end
  return { 'frozen' }
end
if a.token then
  local ungranted = a.grant ~= '' and read_grant(a.grant, a.call)
  if ungranted then return { 'ungranted', ungranted } end -- guard: start-granted
else
  refused = refuse_approval()
  if refused then return refused end
end
local over, used = count_action(a.action, uses_of(a.limits))
if over then return { 'over', int(over), amount_text(used) } end -- guard: start-over

local try, first = int((run.attempts or 0) + 1), run.first_start or NOW
if a.token then
  log_messages()
  local fields = { 'v', '1', 'tool', a.tool, 'ref', a.ref, 'state', 'running', 'attempt', a.attempt, 'attempts', try, 'first_start', first }
  redis.call('HSET', K.run, unpack(fields))
  redis.call('PERSIST', K.run)
  redis.call('HDEL', K.run, 'part')
  local runs, is_named = words(turn.runs), false
  for _, id in ipairs(runs) do
    if id == request_id then is_named = true end
  end
  if not is_named then redis.call('HSET', K.thread, 'runs', (turn.runs or '') .. ' ' .. request_id) end
  redis.call('ZADD', K.states, '3', request_id)
  if a.grant ~= '' then use_grant(a.grant, a.call, a.use_body, a.use_digest) end
  audit('effect-started', thread_id, 'try ' .. try .. ' ' .. a.attempt, body, digest)
  return { 'started', try, grant_uses() }
end
if #a.limits > 0 then set_run('action', a.action) end
if a.done ~= (request.done or '') then set_run('done', a.done) end
set_run('attempt', a.attempt, 'started_at', NOW, 'attempts', try, 'first_start', first)
enter('started')
set_to_run(false)
drawn_at = now + RUNNING_CARD_MS
due('recover', now + a.timeout)
audit('started', request_id, 'try ' .. try .. ' ' .. a.attempt, body, digest)
return { 'started', try, '0' }
