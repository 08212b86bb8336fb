-- Says how a person learns of a request: by a card of its own or, after so many cards in a window, by their summary. A request that is on
-- the summary stays there, and its change is noted.
-- ARGV
--   1 the person, in the place of a thread
--   2 request id
--   3 revision of the request
--   4 delay in ms after which the summary is drawn
--   5 most cards in the window, or '' for the summary in any case
--   6 length of the window in ms
-- Returns
--   {'card'}
--   {'listed'}             the same request gets the same answer again
--- include summary
local request_id, revision, due_at, most, window = ARGV[2], tonumber(ARGV[3]), now + ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local item, summary = 'summary|' .. thread_id, read_all(K.summary)
local since, known = string.match(summary['on|' .. request_id] or '', '^(%d+) (%d+)$')

if known and tonumber(known) >= revision then return { 'listed' } end -- guard: tell-repeated
local is_listed, recent, old = false, 0, {}
if known or not most then is_listed = true end -- guard: tell-listed
if not is_listed and summary['card|' .. request_id] then return { 'card' } end -- guard: tell-card
for name, at in pairs(summary) do
  if not is_listed and string.sub(name, 1, 5) == 'card|' then
    if tonumber(at) > now - window then recent = recent + 1 end
    if tonumber(at) <= now - DAY then old[#old + 1] = name end
  end
end
if not is_listed and recent >= most then is_listed = true end -- guard: tell-many

keep_summary()
if not is_listed then
  change('HDEL', K.summary, old)
  redis.call('HSET', K.summary, 'card|' .. request_id, NOW)
  return { 'card' }
end
local rev = int(tonumber(summary.rev or '0') + 1)
redis.call('HSET', K.summary, 'rev', rev, 'on|' .. request_id, (since or rev) .. ' ' .. int(revision))
-- A summary that is being drawn is drawn once more afterwards, and one that Slack has refused keeps its time.
local state = redis.call('HMGET', K.rows, 'claim|' .. item, 'tries|' .. item)
if state[1] or state[2] then return { 'listed' } end -- guard: tell-held
local before = redis.call('ZSCORE', K.outbox, item)
if not before or tonumber(before) > due_at then redis.call('ZADD', K.outbox, int(due_at), item) end
report_due('outbox', due_at)
return { 'listed' }
