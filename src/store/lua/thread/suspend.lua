-- Ends a turn: appends its messages, opens its requests and releases the thread. A request of a person who stopped the turn is recorded
-- as withdrawn by them.
-- ARGV
--   1 thread id
--   2 named values:
--     token; read, the number of inbox items that the turn has read; keep, how long an idle thread is kept, in ms; messages (JSON);
--     rows, id and row (JSON) of each of the outbox; requests, of each:
--       id; record (JSON); kind, or 'unknown' for an outcome to resolve, or 'step' for a Run without an Ask that a plan covers; of a step
--       its plan and its number there; requesters; asked, the people asked; expires, remind, escalate in ms or ''; body and digest of the audit row;
--       views, the id of each; ask and run, the name and value of each of their fields
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
--- include open
--- include runs
local a = cmsgpack.unpack(ARGV[2])
local token, read_items, keep = a.token, tonumber(a.read), tonumber(a.keep)

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
-- Each request has three keys; K.ask, K.run and K.record are those of the first.
for i = FIRST_REQUEST, #KEYS, 3 do
  if redis.call('EXISTS', KEYS[i], KEYS[i + 1]) > 0 then return { 'existing', int((i - FIRST_REQUEST) / 3) } end -- guard: suspend-existing
end

-- What one turn sends goes out in the order of this call: its items are due in the last millisecond, each a little after the one before.
local placed = 0
local function in_order()
  placed = math.min(placed + 1, 1023)
  return now - 1 + placed / 1024
end

change('RPUSH', K.log, a.messages)
for _, row in ipairs(a.rows) do send(row[1], row[2], in_order()) end

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
local function withdraw(key, run, asked, requesters, principals, stop)
  local id = asked.id
  if asked.kind == 'step' then
    redis.call('HSET', run, 'state', 'cancelled', 'code', 'withdrawn', 'rev', '2', 'by', stop.who, 'payload', '', 'settled_at', NOW)
    redis.call('HSET', K.round, interrupt_of(id), 'withdrawn\n' .. stop.who .. '\n')
    audit('withdrawn', id, 'plan ' .. asked.number, stop.body, stop.digest)
    return
  end
  redis.call('HSET', key, 'state', 'withdrawn', 'rev', '2', 'by', stop.who, 'payload', '', 'settled_at', NOW)
  if #asked.run > 0 then redis.call('HSET', run, 'state', 'cancelled') end
  redis.call('ZREM', K.states, id)
  redis.call('ZREM', K.timers, 'expire|' .. id, 'remind|' .. id, 'escalate|' .. id)
  if not asked.plan then redis.call('ZADD', K.timers, int(now + redis.call('HGET', key, 'keep')), 'purge|' .. id) end
  local listed, decided = {}, {}
  for _, person in ipairs(principals) do append(listed, { person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZREM', K.waiting, listed)
  for _, person in ipairs(requesters) do append(decided, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.decided, decided)
  redis.call('HSET', K.round, interrupt_of(id), 'withdrawn\n' .. stop.who .. '\n')
  audit('withdrawn', id, stop.who, stop.body, stop.digest)
end

redis.call('DEL', K.round)
end_runs(thread.runs, a.keep)
local people = {}
local requests = #a.requests
for i, asked in ipairs(a.requests) do
  local key, run = KEYS[FIRST_REQUEST + 3 * i - 3], KEYS[FIRST_REQUEST + 3 * i - 2]
  local id, kind, requesters, principals = asked.id, asked.kind, words(asked.requesters), words(asked.asked)
  open_request(asked, i, people, in_order)
  redis.call('HSET', K.round, interrupt_of(id), kind == 'step' and 'step' or 'pending')
  local stop = stop_of(requesters)
  if stop and kind ~= 'unknown' then -- guard: suspend-stopped
    append(withdrawals, { function() withdraw(key, run, asked, requesters, principals, stop) end })
  end
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
