-- Ends a turn: appends its messages, opens its requests and releases the thread. A request of a person who stopped the turn is recorded
-- as withdrawn by them.
-- ARGV
--   1 thread id
--   2 token
--   3 number of inbox items that the turn has read
--   4 how long an idle thread is kept, in ms
--   5 number of messages, then each message (JSON)
--   . number of outbox rows, then id and row (JSON) of each
--   . number of requests, then of each request:
--       id, immutable record (JSON), kind, or 'unknown' for an outcome to resolve, or 'step' for one that its plan covers, requesters, people asked, expires in ms, remind every ms or '', escalate after ms or '',
--       audit body (JSON), digest of the body, number of views, id of each view, number of hash words, then name and value of each field
-- Returns
--   {'suspended', open requests, unread inbox items, then interrupt and person of each withdrawn request}
--                          also for the same call again, which changes nothing
--   {'stale'}
--   {'existing', index of the request that exists already}
--- include thread
--- include audit
--- include claims
--- include send
--- include stopped
--- include homes
local token, read_items, keep = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local function suspended(open, unread)
  local reply = { 'suspended', int(open), int(unread) }
  local round = thread.stop == token and redis.call('HGETALL', K.round) or {}
  for i = 1, #round, 2 do
    local by = string.match(round[i + 1], '^withdrawn\n([^\n]*)')
    if by then append(reply, { round[i], by }) end
  end
  return reply
end

if thread.committed == token then return suspended(thread.open, redis.call('LLEN', K.inbox)) end -- guard: suspend-repeated
if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: suspend-stale
-- Each request has two keys; K.request and K.record are those of the first.
for i = FIRST_REQUEST, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[i]) == 1 then return { 'existing', int((i - FIRST_REQUEST) / 2) } end -- guard: suspend-existing
end

-- Passes a range of ARGV to a command in batches, because Lua limits the number of values.
local function pass_range(command, key, first, last)
  for from = first, last, 1000 do
    redis.call(command, key, unpack(ARGV, from, math.min(from + 999, last)))
  end
end

-- What one turn sends goes out in the order of this call: its items are due in the last millisecond, each a little after the one before.
local placed = 0
local function in_order()
  placed = math.min(placed + 1, 1023)
  return now - 1 + placed / 1024
end

local place = 6 + tonumber(ARGV[5])
pass_range('RPUSH', K.log, 6, place - 1)

local rows = tonumber(ARGV[place])
for i = 1, rows do send(ARGV[place + 2 * i - 1], ARGV[place + 2 * i], in_order()) end
place = place + 2 * rows + 1

local stops, withdrawals = stops_of(thread, token), {}

-- The stop of one of these people.
local function stop_of(people)
  for _, stop in ipairs(stops) do
    for _, person in ipairs(people) do
      if person == stop.who then return stop end
    end
  end
end

-- Ends a request that was just opened as a requester's own stop does.
local function withdraw(key, id, requesters, principals, stop)
  redis.call('HSET', key, 'state', 'withdrawn', 'rev', '2', 'by', stop.who, 'payload', '', 'settled_at', NOW)
  redis.call('ZREM', K.states, id)
  redis.call('ZREM', K.timers, 'expire|' .. id, 'remind|' .. id, 'escalate|' .. id)
  redis.call('ZADD', K.timers, int(now + redis.call('HGET', key, 'keep')), 'purge|' .. id)
  local listed, decided = {}, {}
  for _, person in ipairs(principals) do append(listed, { person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZREM', K.waiting, listed)
  for _, person in ipairs(requesters) do append(decided, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.decided, decided)
  redis.call('HSET', K.round, interrupt_of(id), 'withdrawn\n' .. stop.who .. '\n')
  -- The steps of a plan end with it.
  if redis.call('HEXISTS', key, 'steps') == 1 then
    redis.call('ZADD', K.timers, NOW, 'run|' .. id)
    report_due('run|' .. id, now)
  end
  audit('withdrawn', id, stop.who, stop.body, stop.digest)
end

redis.call('DEL', K.round, K.effects)
local people = {}
local requests = tonumber(ARGV[place])
place = place + 1
for i = 1, requests do
  local key, record_key = KEYS[FIRST_REQUEST + 2 * i - 2], KEYS[FIRST_REQUEST + 2 * i - 1]
  local id, record, kind, requesters, principals, expires_in, remind_every, escalate_after, body, digest, views =
    unpack(ARGV, place, place + 10)
  local first_field = place + 12 + views
  local last_field = first_field + ARGV[first_field - 1] - 1
  local expires = int(now + expires_in)
  redis.call('HSET', key, 'created', NOW, 'expires', expires, unpack(ARGV, first_field, math.min(first_field + 99, last_field)))
  pass_range('HSET', key, first_field + 100, last_field)
  redis.call('SET', record_key, record)
  local cards, waiting = {}, {}
  for at = place + 11, place + 10 + views do append(cards, { string.format('%.4f', in_order()), 'view|' .. id .. '|' .. ARGV[at] }) end
  change('ZADD', K.outbox, cards)
  if #cards > 0 then report_due('outbox', now) end
  for _, person in ipairs(words(principals)) do append(waiting, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.waiting, waiting)
  local asked = {}
  for _, person in ipairs(words(requesters)) do append(asked, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.asked, asked)
  add_people(add_people(people, words(principals), { unpack(ARGV, place + 11, place + 10 + views) }), words(requesters), {})
  -- Nobody is asked about a step by itself.
  local is_step = kind == 'step'
  if not is_step then redis.call('ZADD', K.states, kind == 'unknown' and '4' or '1', id) end
  local timers = (kind == 'unknown' or is_step) and {} or { expires, 'expire|' .. id }
  if remind_every ~= '' then append(timers, { int(now + remind_every), 'remind|' .. id }) end
  if escalate_after ~= '' then append(timers, { int(now + escalate_after), 'escalate|' .. id }) end
  change('ZADD', K.timers, timers)
  for at = 1, #timers, 2 do report_due(timers[at + 1], tonumber(timers[at])) end
  redis.call('HSET', K.round, interrupt_of(id), is_step and 'step' or 'pending')
  facts_of[id] = function()
    local stored = read(key, 'kind', 'requester', 'tool', 'policy', 'trace')
    return table.concat({ stored.kind, stored.requester, NOW, '', stored.tool or '', stored.policy or '', stored.trace or '' }, '\n')
  end
  if kind == 'unknown' then audit('unknown', id, 'try 1', body, digest) else audit('asked', id, kind, body, digest) end
  local stop = stop_of(words(requesters))
  if stop and kind ~= 'unknown' then -- guard: suspend-stopped
    append(withdrawals, { function() withdraw(key, id, words(requesters), words(principals), stop) end })
  end
  place = last_field + 1
end
for _, withdraw_one in ipairs(withdrawals) do withdraw_one() end
refresh_homes(people)
local open = requests - #withdrawals

if read_items > 0 then redis.call('LTRIM', K.inbox, read_items, -1) end
redis.call('HSET', K.thread, 'open', int(open), 'committed', token)
end_claim()
redis.call('HDEL', K.thread, 'failures', 'inbox_claimed')
local unread = redis.call('LLEN', K.inbox)
if open == 0 and (requests > 0 or unread > 0) then
  redis.call('ZADD', K.timers, NOW, 'thread|' .. thread_id)
  report_due('thread|' .. thread_id, now)
else
  redis.call('ZREM', K.timers, 'thread|' .. thread_id)
end
if requests == 0 then redis.call('ZADD', K.timers, int(now + keep), 'retire|' .. thread_id) end
return suspended(open, unread)
