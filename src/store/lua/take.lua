-- Gives one worker the right to write a thread's next turn, for a while.
-- ARGV: thread, who takes it (new for every attempt), how long the lease holds in ms.
-- Result: {'taken', token, how many messages, inbox, the interrupts of its round and what became of them as pairs, the record's
-- version}, {'busy', until},
-- {'waiting', how many}, {'idle'} or {'quarantined', why}; the same call again gives the same token.
--- include thread
--- include wake
local owner, lease = ARGV[2], tonumber(ARGV[3])

if thread.quarantine then -- guard: take-quarantined
  wake_never()
  return { 'quarantined', thread.quarantine }
end
local held = thread.owner and tonumber(thread.lease_until) > now
if held and thread.owner ~= owner then return { 'busy', thread.lease_until } end -- guard: take-busy
if tonumber(thread.open or '0') > 0 then return { 'waiting', thread.open } end -- guard: take-waiting
local inbox = redis.call('LRANGE', K.inbox, 0, -1)
local round = redis.call('HGETALL', K.round)
if #inbox == 0 and #round == 0 then -- guard: take-idle
  wake_never()
  return { 'idle' }
end

-- Tokens are counted per shard, so that a thread that was retired and begins anew never gives one out twice.
local token = thread.token
if not held then token = int(redis.call('HINCRBY', K.head, 'token', 1)) end
redis.call('HSET', K.thread, 'token', token, 'owner', owner, 'lease_until', int(now + lease))
wake_at(int(now + lease))
return { 'taken', token, int(redis.call('LLEN', K.log)), inbox, round, thread.v or '' }
