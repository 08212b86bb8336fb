-- What the transitions of a request share. K.request is the request, ARGV[2] its id. A record that lacks what they need is
-- answered with {'malformed', the field} and left as it is.
--- include audit
local request_id = ARGV[2]
local request = read(K.request, 'state', 'kind', 'requester', 'digest', 'quorum', 'vetoes', 'self', 'expires', 'created',
  'principals', 'resolvers', 'escalate_to', 'remind_every', 'views', 'approvals', 'rejections', 'attempt', 'attempts',
  'ground', 'idempotent', 'max_attempts', 'retry_for', 'first_start', 'keep', 'by', 'rev')

local STATES = ' pending approved started unknown answered rejected expired withdrawn superseded succeeded failed resolved '

local missing = nil
for _, name in ipairs({ 'quorum', 'vetoes', 'expires', 'created', 'approvals', 'rejections', 'attempts', 'max_attempts',
  'retry_for', 'keep', 'rev' }) do
  if not tonumber(request[name]) then missing = name end
end
for _, name in ipairs({ 'kind', 'requester', 'digest', 'principals', 'resolvers', 'views' }) do
  if not request[name] then missing = name end
end
if not string.find(STATES, ' ' .. (request.state or '') .. ' ', 1, true) then missing = 'state' end
if request.state == 'started' and not tonumber(request.first_start) then missing = 'first_start' end
if request.state and missing then return { 'malformed', missing } end -- guard: request-malformed

local function due(name, at)
  redis.call('ZADD', K.timers, int(at), name .. '|' .. request_id)
end

local function forget(...)
  local names = { ... }
  for i = 1, #names do names[i] = names[i] .. '|' .. request_id end
  change('ZREM', K.timers, names)
end

local function index_member(person, at)
  return person .. ' ' .. int(at) .. ' ' .. request_id
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

-- Every place where the card stands has to be drawn again; one that is being drawn now is drawn once more afterwards.
local function redraw(...)
  request.rev = int(request.rev + 1)
  redis.call('HSET', K.request, 'rev', request.rev, ...)
  for _, view in ipairs(words(request.views)) do
    redis.call('ZADD', K.outbox, 'NX', NOW, 'view|' .. request_id .. '|' .. view)
  end
end

local function enter(state, ...)
  request.state = state
  redraw('state', state, ...)
end

-- Nobody is needed for this request any more: the thread goes on when it was the last of its round.
local function settle(state, by, payload)
  enter(state, 'by', by, 'payload', payload, 'settled_at', NOW)
  unlist_for(request.principals .. ' ' .. request.resolvers)
  redis.call('ZREM', K.run, request_id)
  forget('expire', 'remind', 'escalate', 'recover')
  due('purge', now + request.keep)
  local decided = { '0', index_member(request.requester, now) }
  if by ~= '' and by ~= request.requester then append(decided, { '0', index_member(by, now) }) end
  change('ZADD', K.decided, decided)
  redis.call('HSET', K.round, interrupt_of(request_id), state .. '\n' .. by .. '\n' .. payload)
  if redis.call('HINCRBY', K.thread, 'open', -1) == 0 then redis.call('ZADD', K.wake, NOW, thread_id) end
end

-- What somebody is told who comes too late.
local function settled()
  return { 'settled', request.state, request.by or '' }
end

-- Notes a refusal on the record; a call that is sent again because its reply was lost is noted once. What else the person
-- is told follows the code.
local function refuse(who, body, digest, code, ...)
  if redis.call('HGET', K.request, 'refused:' .. who) ~= digest then
    redis.call('HSET', K.request, 'refused:' .. who, digest)
    audit('refused', request_id, code .. ' ' .. who, body, digest)
  end
  return { code, ... }
end
