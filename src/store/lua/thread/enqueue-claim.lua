-- Adds a message to a thread without open requests, and claims its next turn in the same step.
-- ARGV
--   1 thread id
--   2 id of the item
--   3 the item (JSON)
--   4 '1' if only an existing thread takes it
--   5 the item to add instead while the thread is at work (JSON), or ''
--   6 owner, new for every claim
--   7 length of the lease in ms
-- Returns
--   {'waiting', open interrupts ...}   nothing was added
--   the reply of `enqueue`, and after 'enqueued' the reply of `claim-turn`; the same call again returns the same token
--- include thread
--- include wake
--- script enqueue
--- script claim-turn
local owner = ARGV[6]

if tonumber(thread.open or '0') > 0 then -- guard: enqueue-claim-waiting
  local waiting = { 'waiting' }
  local round = redis.call('HGETALL', K.round)
  for i = 1, #round, 2 do
    if round[i + 1] == 'pending' then waiting[#waiting + 1] = round[i] end
  end
  return waiting
end
local reply = enqueue({ ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] })
if reply[1] == 'duplicate' and thread.owner == owner then reply = { 'enqueued', '0', int(redis.call('LLEN', K.inbox)), '0' } end -- guard: enqueue-claim-repeated
if reply[1] == 'enqueued' then append(reply, claim_turn({ ARGV[1], owner, ARGV[7] })) end
return reply
