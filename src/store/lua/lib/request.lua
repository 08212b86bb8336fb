-- The shared part of all transitions of a request. K.request is the request, ARGV[2] its id. A record without a required field is
-- left as it is, and the reply is {'malformed', field}.
--- include audit
--- include wake
--- include homes
local request_id = ARGV[2]
local request = read_all(K.request)

-- Fields that a pending request does not need are not stored, because many requests wait.
request.approvals = request.approvals or '0'
request.rejections = request.rejections or '0'
request.attempts = request.attempts or '0'
request.max_attempts = request.max_attempts or '1'
request.retry_for = request.retry_for or '0'

local STATES = ' pending approved started unknown answered rejected expired withdrawn superseded succeeded failed resolved paused '

local function has_sound_groups()
  for _, group in ipairs(words(request.groups)) do
    if not string.match(group, '^%d+:') then return false end
  end
  return true
end

local function is_sound()
  return tonumber(request.quorum) and tonumber(request.vetoes) and tonumber(request.expires) and tonumber(request.created)
    and tonumber(request.approvals) and tonumber(request.rejections) and tonumber(request.attempts)
    and tonumber(request.max_attempts) and tonumber(request.retry_for) and tonumber(request.keep) and tonumber(request.rev)
    and request.kind and request.requester and request.digest and request.principals and request.resolvers and request.views
    and string.find(STATES, ' ' .. request.state .. ' ', 1, true)
    and (not request.start_within or tonumber(request.start_within))
    and (request.state ~= 'started' or tonumber(request.first_start))
    and has_sound_groups()
end

-- The first missing field of a malformed request.
local function lacking()
  for _, name in ipairs({ 'quorum', 'vetoes', 'expires', 'created', 'approvals', 'rejections', 'attempts', 'max_attempts',
    'retry_for', 'keep', 'rev' }) do
    if not tonumber(request[name]) then return name end
  end
  for _, name in ipairs({ 'kind', 'requester', 'digest', 'principals', 'resolvers', 'views' }) do
    if not request[name] then return name end
  end
  if request.start_within and not tonumber(request.start_within) then return 'start_within' end
  if not has_sound_groups() then return 'groups' end
  return string.find(STATES, ' ' .. request.state .. ' ', 1, true) and 'first_start' or 'state'
end
if request.state and not is_sound() then return { 'malformed', lacking() } end -- guard: request-malformed

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

-- The fields that the script changes.
local changed = nil
local function set(...)
  if not changed then
    changed = {}
    at_end(function()
      local fields = {}
      for name, value in pairs(changed) do append(fields, { name, value }) end
      change('HSET', K.request, fields)
    end)
  end
  local given = { ... }
  for i = 1, #given, 2 do changed[given[i]] = given[i + 1] end
end

-- The current value of a field.
local function field(name)
  return changed and changed[name] or request[name]
end

facts_of[request_id] = function()
  return table.concat({ request.kind, request.requester, request.created, field('decided_at') or '', request.tool or '',
    request.policy or '', request.trace or '' }, '\n')
end

-- Whether the action has to be run, and when.
local was_to_run, to_run, run_at = request.state == 'approved', nil, NOW
local function set_to_run(value, at)
  if to_run == nil then
    at_end(function()
      if to_run then
        redis.call('ZADD', K.timers, run_at, 'run|' .. request_id)
        report_due('run|' .. request_id, tonumber(run_at))
      end
      if was_to_run and not to_run then redis.call('ZREM', K.timers, 'run|' .. request_id) end
    end)
  end
  to_run, run_at = value, at or NOW
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

-- A step keeps the id of its plan. The plan has how far each of its steps is, for its cards and for the start of the next one.
local function plan_key()
  return string.sub(K.request, 1, #K.request - #request_id) .. request.plan
end

local function how_far()
  local payload = field('payload') or ''
  if request.state == 'resolved' then return string.match(payload, '^[^\n]*') end
  return request.state == 'rejected' and payload == 'not-chosen' and 'skipped' or request.state
end

local function tell_plan(at)
  local plan = read(plan_key(), 'state', 'views')
  if not plan.state then return end
  redis.call('HSET', plan_key(), 'step:' .. request.step, how_far())
  redis.call('HINCRBY', plan_key(), 'rev', 1)
  for _, view in ipairs(words(plan.views)) do
    redis.call('ZADD', K.outbox, 'NX', NOW, 'view|' .. request.plan .. '|' .. view)
  end
  report_due('outbox', at)
end

-- Makes every posted card due for a redraw. A card that is being drawn now is drawn once more afterwards.
local redrawn, drawn_at = false, now
local function redraw(...)
  request.rev = int(request.rev + 1)
  set('rev', request.rev, ...)
  if redrawn then return end
  redrawn = true
  at_end(function()
    if request.plan then tell_plan(drawn_at) end
    local places = {}
    local people = add_people({}, words(request.principals .. ' ' .. request.resolvers), words(request.views))
    refresh_homes(add_people(people, words(request.requesters or request.requester), {}))
    for _, view in ipairs(words(request.views)) do append(places, { NOW, 'view|' .. request_id .. '|' .. view }) end
    if #places == 0 then return end
    redis.call('ZADD', K.outbox, 'NX', unpack(places))
    report_due('outbox', drawn_at)
  end)
end

-- The index of open requests has one score for each state.
local SCORES = { approved = '2', started = '3', unknown = '4' }
local function enter(state, ...)
  request.state = state
  if SCORES[state] then
    redis.call('ZADD', K.states, SCORES[state], request_id)
  else
    redis.call('ZREM', K.states, request_id)
  end
  redraw('state', state, ...)
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

-- Ends the request. When it was the last open one of its round, the thread is woken.
local function settle(state, by, payload)
  -- Between its approval and an unknown outcome it is listed for nobody.
  if request.state == 'pending' or request.state == 'unknown' then
    unlist_for(request.principals .. ' ' .. request.resolvers)
  end
  enter(state, 'by', by, 'payload', payload, 'settled_at', NOW)
  -- The steps of a plan that ends before them end with it.
  set_to_run(request.steps and state ~= 'succeeded' or false)
  forget('expire', 'remind', 'escalate', 'recover')
  set_timer('purge', now + request.keep)
  if request.plan then
    redis.call('ZADD', K.timers, NOW, 'run|' .. request.plan)
    report_due('run|' .. request.plan, now)
  end
  local decided = {}
  -- Lists name the plan, and not each of its steps.
  local listed = request.plan and not request.alone and {} or requesters()
  for _, person in ipairs(listed) do append(decided, { '0', index_member(person, now) }) end
  if #listed > 0 and by ~= '' and not is_requester(by) then append(decided, { '0', index_member(by, now) }) end
  change('ZADD', K.decided, decided)
  redis.call('HSET', K.round, interrupt_of(request_id), state .. '\n' .. by .. '\n' .. payload)
  if redis.call('HINCRBY', K.thread, 'open', -1) == 0 then wake_at(NOW) end
end

-- Asks people what became of an action that was started. The reason says why it cannot be tried again, and is '' if it was not tried.
-- `recover` stays due until they are asked.
local function ask_people(reason)
  set_timer('recover', now)
  enter('unknown', 'unknown_at', NOW, 'payload', reason)
  set_to_run(false)
  redis.call('HDEL', K.request, 'verdict')
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
    redis.call('HSET', K.request, 'refused:' .. who, digest, 'refusals:' .. who, int(refusals + 1))
    audit('refused', request_id, code .. ' ' .. who, body, digest)
  end
  return { code, ... }
end
