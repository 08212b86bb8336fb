-- Adds a message to a thread's inbox, once. A message that stops does so in the same step: the turn that has not ended was not given it.
-- With an owner it claims the thread's next turn in the same step, and adds nothing while requests are open.
-- ARGV
--   1 thread id
--   2 named values:
--     id; item (JSON); known, '1' if only an existing thread takes it; at_work, the item to add instead while the thread is at work (JSON),
--     or ''; who stops the turn that has not ended, or ''; body and digest of the audit row of a withdrawal; owner, new for every claim,
--     or ''; lease in ms
-- Returns
--   {'enqueued', open requests, place in the inbox, '1' if a turn has not ended}, and for a stop: token of the turn or '', time;
--                          with an owner the reply of `claim-turn` instead, and the same call again returns the same token
--   {'waiting', open interrupts ...}   nothing was added
--   {'duplicate'}          also for the same call again
--   {'unknown-thread'}
--- include thread
--- include wake
--- include stopped
--- script claim-turn
local a = cmsgpack.unpack(ARGV[2])
local item_id, item, only_known, item_at_work = a.id, a.item, a.known, a.at_work
local who, body, digest, owner = a.who, a.body, a.digest, a.owner

local function add()
  if only_known == '1' and redis.call('EXISTS', K.thread) == 0 then return { 'unknown-thread' } end -- guard: enqueue-unknown
  if redis.call('ZADD', K.seen, 'NX', NOW, item_id) == 0 then return { 'duplicate' } end -- guard: enqueue-duplicate

  -- A thread is at work from the first unread message to the end of the turn that leaves nothing open.
  local open = tonumber(thread.open or '0')
  local busy = thread.token and thread.committed ~= thread.token
  local at_work = busy or open > 0 or redis.call('EXISTS', K.inbox, K.round) > 0
  if at_work and item_at_work ~= '' then item = item_at_work end -- guard: enqueue-at-work

  local place = redis.call('RPUSH', K.inbox, item)
  if thread.v then
    redis.call('ZREMRANGEBYRANK', K.seen, 0, -1001)
    redis.call('ZREM', K.timers, 'retire|' .. thread_id)
  else
    thread.v = '1'
    redis.call('HSET', K.thread, 'v', thread.v)
  end
  if open == 0 then wake_by(NOW) end
  local reply = { 'enqueued', int(open), int(place), busy and '1' or '0' }
  if who == '' then return reply end
  if busy then record_stop(thread, who, body, digest) end -- guard: enqueue-stop
  append(reply, { busy and thread.token or '', NOW })
  return reply
end

if owner == '' then return add() end
if tonumber(thread.open or '0') > 0 then -- guard: enqueue-claim-waiting
  local waiting = { 'waiting' }
  local round = redis.call('HGETALL', K.round)
  for i = 1, #round, 2 do
    if round[i + 1] == 'pending' then waiting[#waiting + 1] = round[i] end
  end
  return waiting
end
local reply = add()
if reply[1] == 'duplicate' and thread.owner == owner then reply = { 'enqueued', '0', int(redis.call('LLEN', K.inbox)), '0' } end -- guard: enqueue-claim-repeated
if reply[1] == 'enqueued' then append(reply, claim_turn({ thread_id, owner, a.lease })) end
return reply
