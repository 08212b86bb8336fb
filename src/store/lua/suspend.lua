-- Writes all that a turn added, opens its requests, and gives the thread back.
-- ARGV: thread, token, how many inbox items the turn has read, how long a settled thread is
-- kept in ms, messages (count, then each), outbox rows (count, then id and row of each), requests (count, then the fields
-- of each, as `request_fields` reads them).
-- Result: {'suspended', waiting requests}, {'stale'} or {'existing', which of its requests}; the same call again changes
-- nothing and gives the same.
--- include thread
--- include audit
--- include send
local token, read_items, keep = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

if thread.committed == token then return { 'suspended', thread.open } end -- guard: suspend-repeated
if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: suspend-stale
-- Each request has two keys, as K.request and K.record are those of the first.
for i = FIRST_REQUEST, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[i]) == 1 then return { 'existing', int((i - FIRST_REQUEST) / 2) } end -- guard: suspend-existing
end

local next_arg = reader(5)

local messages = {}
for i = 1, tonumber(next_arg()) do messages[i] = next_arg() end
change('RPUSH', K.log, messages)

for _ = 1, tonumber(next_arg()) do
  local row_id, row = next_arg(), next_arg()
  send(row_id, row)
end

redis.call('DEL', K.round)
local requests = tonumber(next_arg())
for i = 1, requests do
  local key, record_key = KEYS[FIRST_REQUEST + 2 * i - 2], KEYS[FIRST_REQUEST + 2 * i - 1]
  local id, record, kind, requester, digest = next_arg(), next_arg(), next_arg(), next_arg(), next_arg()
  local ground, quorum, vetoes, self = next_arg(), next_arg(), next_arg(), next_arg()
  local principals, resolvers = next_arg(), next_arg()
  local expires_in, remind_every, escalate_after, escalate_to = next_arg(), next_arg(), next_arg(), next_arg()
  local idempotent, max_attempts, retry_for, kept = next_arg(), next_arg(), next_arg(), next_arg()
  local fields = { 'v', '2', 'state', 'pending', 'rev', '1', 'kind', kind,
    'requester', requester, 'digest', digest, 'quorum', quorum, 'vetoes', vetoes, 'created', NOW,
    'principals', principals, 'resolvers', resolvers, 'keep', kept, 'expires', int(now + expires_in) }
  -- Few requests have any of these, and many requests wait.
  local rare = { max_attempts = max_attempts, retry_for = retry_for, ground = ground, self = self, idempotent = idempotent, escalate_to = escalate_to, escalate_after = escalate_after, remind_every = remind_every }
  for name, value in pairs(rare) do
    if value ~= '' then append(fields, { name, value }) end
  end
  local views, shown = {}, {}
  for _ = 1, tonumber(next_arg()) do
    local view, place = next_arg(), next_arg()
    views[#views + 1] = view
    append(fields, { 'view:' .. view, place })
    append(shown, { NOW, 'view|' .. id .. '|' .. view })
  end
  append(fields, { 'views', table.concat(views, ' ') })
  change('HSET', key, fields)
  redis.call('SET', record_key, record)
  change('ZADD', K.outbox, shown)
  local waiting = {}
  for _, person in ipairs(words(principals)) do append(waiting, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.waiting, waiting)
  redis.call('ZADD', K.asked, 0, requester .. ' ' .. NOW .. ' ' .. id)
  local timers = { int(now + expires_in), 'expire|' .. id }
  if remind_every ~= '' then append(timers, { int(now + remind_every), 'remind|' .. id }) end
  if escalate_after ~= '' then append(timers, { int(now + escalate_after), 'escalate|' .. id }) end
  change('ZADD', K.timers, timers)
  redis.call('HSET', K.round, interrupt_of(id), 'pending')
  audit('asked', id, kind, next_arg(), next_arg())
end

if read_items > 0 then redis.call('LTRIM', K.inbox, read_items, -1) end
redis.call('HSET', K.thread, 'open', int(requests), 'committed', token)
redis.call('HDEL', K.thread, 'owner', 'lease_until')
if requests == 0 and redis.call('LLEN', K.inbox) > 0 then
  redis.call('ZADD', K.wake, NOW, thread_id)
else
  redis.call('ZREM', K.wake, thread_id)
end
if requests == 0 then redis.call('ZADD', K.timers, int(now + keep), 'retire|' .. thread_id) end
return { 'suspended', int(requests) }
