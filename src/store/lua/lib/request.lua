-- The shared part of all transitions of an Ask and of the Run that it is about. K.ask is what people are asked, K.run the call, ARGV[2]
-- the id of both; only an approval has a Run. A plan is an Ask about several Runs, its `runs`. One that the plan covers has no Ask of its
-- own: K.ask is its Run too, and what people said is read from the Ask of its plan. A record without a required field is left as it is,
-- and the reply is {'malformed', field}.
--- include audit
--- include wake
--- include homes
local request_id = ARGV[2]
local KEY_START = string.sub(K.ask, 1, -1 - #('ask:' .. request_id))

-- The fields of a plan's Ask that are about the plan and not about its Runs.
local OF_PLAN = {}
for _, name in ipairs(words('v state rev by payload settled_at tool digest runs chosen views view stands drawn redrawn_for refused refusals granted grant')) do
  OF_PLAN[name] = true
end

-- Joins a Run with what people said of its plan. Its state is the word for both: how far people are, and then how far the call is.
local COVERED_STATES = { waiting = 'pending', ready = 'approved', running = 'started' }
local function read_covered(run)
  for name, value in pairs(read_all(KEY_START .. 'ask:' .. run.plan)) do
    if not OF_PLAN[string.match(name, '^[^:]*')] and not run[name] then run[name] = value end
  end
  run.called, run.is_covered = run.state, true
  run.state = run.state == 'cancelled' and run.code or run.confirmed and 'resolved' or COVERED_STATES[run.state] or run.state
  return run
end

-- Reads an Ask with its Run. Its state is one word for both, too. An approved Run may wait for its plan; a plan ends with its last Run.
local RUN_STATES = { waiting = 'approved', ready = 'approved', running = 'started' }
local function read_request(id)
  local ask, run = read_all(KEY_START .. 'ask:' .. id), read_all(KEY_START .. 'run:' .. id)
  if run.plan and not run.alone then return read_covered(run) end
  local state = ask.state
  if state == 'open' then state = 'pending' end
  if state == 'replaced' then state = 'superseded' end
  local is_call = state == 'approved' and not ask.runs
  if is_call then state = RUN_STATES[run.state] or run.confirmed and 'resolved' or run.state or '' end
  if ask.runs and state == 'approved' and ask.settled_at then state = 'succeeded' end
  for name, value in pairs(run) do
    local is_end = name == 'by' or name == 'payload' or name == 'settled_at'
    if is_call or not is_end then ask[name] = value end
  end
  ask.state, ask.called = state, run.state
  return ask
end

local STATES = ' pending approved started unknown answered rejected expired withdrawn superseded succeeded failed resolved paused '

local function has_sound_groups(request)
  for _, group in ipairs(words(request.groups)) do
    if not string.match(group, '^%d+:') then return false end
  end
  return true
end

local function is_sound(request)
  return tonumber(request.quorum) and tonumber(request.vetoes) and tonumber(request.expires) and tonumber(request.created)
    and tonumber(request.approvals) and tonumber(request.rejections) and tonumber(request.attempts)
    and tonumber(request.max_attempts) and tonumber(request.retry_for) and tonumber(request.keep) and tonumber(request.rev)
    and request.kind and request.requester and request.digest and request.principals and request.resolvers and request.views
    and string.find(STATES, ' ' .. request.state .. ' ', 1, true)
    and (not request.start_within or tonumber(request.start_within))
    and (request.state ~= 'started' or tonumber(request.first_start))
    and has_sound_groups(request)
end

-- The first missing field of a malformed request.
local function lacking(request)
  for _, name in ipairs({ 'quorum', 'vetoes', 'expires', 'created', 'approvals', 'rejections', 'attempts', 'max_attempts',
    'retry_for', 'keep', 'rev' }) do
    if not tonumber(request[name]) then return name end
  end
  for _, name in ipairs({ 'kind', 'requester', 'digest', 'principals', 'resolvers', 'views' }) do
    if not request[name] then return name end
  end
  if request.start_within and not tonumber(request.start_within) then return 'start_within' end
  if not has_sound_groups(request) then return 'groups' end
  return string.find(STATES, ' ' .. request.state .. ' ', 1, true) and 'first_start' or 'state'
end

-- A script is about one request, and about others of the same plan where `about` says so. `here` is the one that it is about now, with
-- what it changes there.
local here, request, seen = nil, nil, {}
local function look_at(id)
  if not seen[id] then
    local found = read_request(id)
    -- Fields that a pending request does not need are not stored, because many requests wait.
    found.approvals = found.approvals or '0'
    found.rejections = found.rejections or '0'
    found.attempts = found.attempts or '0'
    found.max_attempts = found.max_attempts or '1'
    found.retry_for = found.retry_for or '0'
    local run = KEY_START .. 'run:' .. id
    seen[id] = { request = found, run = run, ask = found.is_covered and run or KEY_START .. 'ask:' .. id, was_to_run = found.state == 'approved' }
  end
  here, request_id, request = seen[id], id, seen[id].request
  K.ask, K.run, K.record = here.ask, here.run, KEY_START .. 'record:' .. id
end
look_at(request_id)
if request.state and not is_sound(request) then return { 'malformed', lacking(request) } end -- guard: request-malformed

-- Does something with another request of the same plan. One that cannot be read counts as missing.
local function about(id, act)
  local before, is_new = request_id, not seen[id]
  look_at(id)
  if is_new and request.state and not is_sound(request) then request.state = nil end
  act()
  look_at(before)
end

-- Writes something about this request after the last line of the script.
local function write_last(write)
  local id = request_id
  at_end(function()
    look_at(id)
    write()
  end)
end

local function set_timer(name, at)
  redis.call('ZADD', K.timers, int(at), name .. '|' .. request_id)
end

local function due(name, at)
  set_timer(name, at)
  report_due(name .. '|' .. request_id, at)
end

local function forget(...)
  local names = { ... }
  for i = 1, #names do names[i] = names[i] .. '|' .. request_id end
  change('ZREM', K.timers, names)
end

local function index_member(person, at)
  return person .. ' ' .. int(at) .. ' ' .. request_id
end

-- The fields that the script changes, in the Ask and in the Run.
local function set_in(key, ...)
  if not here.changed then
    local changed = { [K.ask] = {}, [K.run] = {} }
    here.changed = changed
    at_end(function()
      for each, values in pairs(changed) do
        local fields = {}
        for name, value in pairs(values) do append(fields, { name, value }) end
        change('HSET', each, fields)
      end
    end)
  end
  local given = { ... }
  for i = 1, #given, 2 do here.changed[key][given[i]] = given[i + 1] end
end

local function set(...)
  set_in(K.ask, ...)
end

local function set_run(...)
  set_in(K.run, ...)
end

-- The current value of a field.
local function field_of(it, name)
  return it.changed and (it.changed[it.run][name] or it.changed[it.ask][name]) or it.request[name]
end

local function field(name)
  return field_of(here, name)
end

-- The facts of every request that the script has looked at.
setmetatable(facts_of, { __index = function(_, subject)
  local it = seen[subject]
  return it and function()
    local asked = it.request
    return table.concat({ asked.kind, asked.requester, asked.created, field_of(it, 'decided_at') or '', asked.tool or '',
      asked.policy or '', asked.trace or '' }, '\n')
  end
end })

-- Whether the action has to be run, and when.
local function set_to_run(value, at)
  if here.to_run == nil then
    write_last(function()
      if here.to_run then
        redis.call('ZADD', K.timers, here.run_at, 'run|' .. request_id)
        report_due('run|' .. request_id, tonumber(here.run_at))
      end
      if here.was_to_run and not here.to_run then redis.call('ZREM', K.timers, 'run|' .. request_id) end
    end)
  end
  here.to_run, here.run_at = value, at or NOW
end

local function list_for(people)
  local members = {}
  for _, person in ipairs(words(people)) do append(members, { '0', index_member(person, request.created) }) end
  change('ZADD', K.waiting, members)
end

local function unlist_for(people)
  local members = words(people)
  for i = 1, #members do members[i] = index_member(members[i], request.created) end
  change('ZREM', K.waiting, members)
end

-- Makes every posted card due for a redraw, and those of its plan. A card that is being drawn now is drawn once more afterwards.
local drawn_at = now
local function redraw(...)
  if not request.state then return end
  request.rev = int(request.rev + 1)
  set('rev', request.rev, ...)
  if request.plan then about(request.plan, redraw) end
  if here.is_redrawn then return end
  here.is_redrawn = true
  write_last(function()
    local places = {}
    local people = add_people({}, words(request.principals .. ' ' .. request.resolvers), words(request.views))
    refresh_homes(add_people(people, words(request.requesters or request.requester), {}))
    for _, view in ipairs(words(request.views)) do append(places, { NOW, 'view|' .. request_id .. '|' .. view }) end
    if #places == 0 then return end
    redis.call('ZADD', K.outbox, 'NX', unpack(places))
    report_due('outbox', drawn_at)
  end)
end

-- People are asked until they have decided; from then on the Run has the state. A Run that no longer waits for an Ask is cancelled; one
-- that its plan covers says by itself how that ended.
local ASKED = { pending = 'open', answered = 'answered', rejected = 'rejected', expired = 'expired', withdrawn = 'withdrawn', superseded = 'replaced' }
local RUNS = { pending = 'waiting', approved = 'ready', started = 'running' }
local function write_state(state, given)
  local asked = ASKED[state] or (state == 'failed' and request.state == 'pending' and 'failed') or 'approved'
  local is_call = request.is_covered or (asked == 'approved' and state ~= 'approved' and not request.runs)
  if not is_call then set('state', asked) end
  if (request.kind == 'approval' or request.unsigned) and not request.runs then
    local called = asked == 'approved' and (RUNS[state] or state) or ASKED[state] and RUNS[state] or 'cancelled'
    -- One that is approved by itself still waits for its plan.
    if state == 'approved' and request.alone and request.called == 'waiting' then called = 'waiting' end
    if state == 'resolved' then
      set_run('confirmed', '1')
      called = string.sub(given.payload, 1, 4) == 'ran\n' and 'succeeded' or 'failed'
    end
    set_run('state', called)
    if request.is_covered and called == 'cancelled' then set_run('code', state) end
    request.called = called
  end
  local write = is_call and set_run or set
  for name, value in pairs(given) do
    request[name] = value
    write(name, value)
  end
end

-- The index of open requests has one score for each state.
local SCORES = { approved = '2', started = '3', unknown = '4' }
local function enter(state, given)
  write_state(state, given or {})
  request.state = state
  if SCORES[state] then
    redis.call('ZADD', K.states, SCORES[state], request_id)
  else
    redis.call('ZREM', K.states, request_id)
  end
  redraw()
end

-- The requesters. A record of one requester names no others.
local function requesters()
  return words(request.requesters or request.requester)
end

local function is_requester(who)
  for _, person in ipairs(requesters()) do
    if person == who then return true end
  end
  return false
end

-- Removes it after its time; a step goes with its plan.
local function purge_later()
  if not request.plan then set_timer('purge', now + request.keep) end
end

-- Moves the plan of this request on once the script has done its own part.
local move_plan
local function plan_follows()
  local plan = request.runs and request_id or request.plan
  if plan then append(follow_ups, { function() about(plan, move_plan) end }) end
end

-- Corrects the round for a Run that paused and goes on, as long as its turn has not ended.
local function correct_round(state, by, payload)
  local interrupt = interrupt_of(request_id)
  if redis.call('HEXISTS', K.round, interrupt) == 0 then return end
  redis.call('HSET', K.round, interrupt, state .. '\n' .. by .. '\n' .. payload)
end

-- Ends the request. When it was the last open one of its round, the thread is woken; the end of a Run that no thread made is work of its own.
-- One that had paused was an end for its round already.
local function settle(state, by, payload)
  local paused_at = request.state == 'paused' and request.settled_at
  -- Between its approval and an unknown outcome it is listed for nobody.
  if request.state == 'unknown' or (request.state == 'pending' and not request.is_covered) then
    unlist_for(request.principals .. ' ' .. request.resolvers)
  end
  enter(state, { by = by, payload = payload, settled_at = NOW })
  set_to_run(false)
  forget('expire', 'remind', 'escalate', 'recover')
  purge_later()
  if not paused_at then plan_follows() end
  local before, decided = {}, {}
  -- Lists name the plan, and not each of its steps.
  local listed = request.is_covered and {} or requesters()
  if #listed > 0 and by ~= '' and not is_requester(by) then append(listed, { by }) end
  for _, person in ipairs(listed) do
    if paused_at then append(before, { index_member(person, paused_at) }) end
    append(decided, { '0', index_member(person, now) })
  end
  change('ZREM', K.decided, before)
  change('ZADD', K.decided, decided)
  if request.from then return due('ended', now) end -- guard: settle-from
  if paused_at then return correct_round(state, by, payload) end
  redis.call('HSET', K.round, interrupt_of(request_id), state .. '\n' .. by .. '\n' .. payload)
  if redis.call('HINCRBY', K.thread, 'open', -1) == 0 then wake_at(NOW) end
end

-- Asks people what became of an action that was started. The reason says why it cannot be tried again, and is '' if it was not tried.
-- `recover` stays due until they are asked.
local function ask_people(reason)
  set_timer('recover', now)
  enter('unknown', { unknown_at = NOW, payload = reason })
  set_to_run(false)
  redis.call('HDEL', K.run, 'verdict')
  list_for(request.resolvers)
end

-- Whether a person may not approve the request: a requester, unless the policy allows it, and everyone whom its separation bars.
local function is_barred(who)
  for _, person in ipairs(words(request.barred)) do
    if person == who then return true end
  end
  return is_requester(who) and request.self ~= '1'
end

-- The reply to a decision that comes too late.
local function settled()
  return { 'settled', request.state, request.by or '' }
end

-- The refusals of one person on one request that are audited: who goes on clicking does not fill the log.
local MOST_REFUSALS = 20

-- Audits a refusal, once for a call that is resent because its reply was lost. The values after the code are returned with it.
local function refuse(who, body, digest, code, ...)
  local refusals = tonumber(request['refusals:' .. who] or '0')
  if refusals >= MOST_REFUSALS then return { code, ... } end -- guard: refuse-most
  if request['refused:' .. who] ~= digest then
    redis.call('HSET', K.ask, 'refused:' .. who, digest, 'refusals:' .. who, int(refusals + 1))
    audit('refused', request_id, code .. ' ' .. who, body, digest)
  end
  return { code, ... }
end
--- include plan
