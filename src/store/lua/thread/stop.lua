-- Asks the turn of a thread that has not ended to stop, also one whose worker died or that waits for its next try, and keeps who
-- asked: the turn starts no further effect, and what it still asks people for is withdrawn where this person is a requester. Its
-- worker learns of it when it renews the lease, starts an effect or ends the turn.
-- ARGV
--   1 thread id
--   2 who
--   3 audit body of a withdrawal (JSON)
--   4 digest of the body
--   5 id of an item of the inbox, if only a turn that was not given it is meant, or ''
-- Returns
--   {'stopping'}           also for the same call again until that turn ends
--   {'idle'}
--- include stopped
local who, body, digest, unread = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local thread = read(K.thread, 'token', 'committed', 'stop', 'stopped_by', 'inbox_claimed')

local function is_given(id)
  if not thread.inbox_claimed then return true end
  for _, item in ipairs(redis.call('LRANGE', K.inbox, int(math.max(0, tonumber(thread.inbox_claimed))), -1)) do
    if cjson.decode(item).id == id then return false end
  end
  return true
end

if not thread.token or thread.committed == thread.token then return { 'idle' } end -- guard: stop-idle
if unread ~= '' and is_given(unread) then return { 'idle' } end -- guard: stop-read
local stops = stops_of(thread, thread.token)
for _, stop in ipairs(stops) do
  if stop.who == who then return { 'stopping' } end -- guard: stop-repeated
end

local before = #stops > 0 and thread.stopped_by or thread.token
local line = table.concat({ who, NOW, digest, body }, ' ')
redis.call('HSET', K.thread, 'stop', thread.token, 'stopped_by', before .. '\n' .. line)
return { 'stopping' }
