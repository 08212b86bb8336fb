-- A claim is counted until its turn ends in a regular way: it is recorded, fails or is given back. A process that dies ends the claims
-- of all its threads, so after so many in a row a thread is only suspected, and runs alone: one suspect of the workspace at a time. A
-- thread that shares a process with one that kills it is not suspected for long: it ends its turn when it runs without the other one.
local SHARED_CLAIMS = 2
-- The claims in a row after which a thread is given up: those that it may have shared, and three as the suspect. The other thread
-- shares no more than two of those three, because it is suspected itself then.
local MOST_CLAIMS = 5

-- Keeps the place of the suspect for as long as the lease of its turn.
local function keep_suspect(lease)
  redis.call('HSET', K.head, 'suspect', thread_id, 'suspect_until', int(now + lease))
end

local function is_suspect()
  return redis.call('HGET', K.head, 'suspect') == thread_id
end

-- Other suspects wait for this one, and their time to run is past. The oldest of them take its place.
local function wake_next_suspect()
  for _, due in ipairs(redis.call('ZRANGEBYSCORE', K.timers, '-inf', now, 'LIMIT', 0, 8)) do
    if string.sub(due, 1, 7) == 'thread|' and due ~= 'thread|' .. thread_id then report_due(due, now) end
  end
end

-- Ends the claim of a turn that ends in a regular way.
local function end_claim()
  redis.call('HDEL', K.thread, 'owner', 'lease_until', 'claims')
  if not is_suspect() then return end
  redis.call('HDEL', K.head, 'suspect', 'suspect_until')
  wake_next_suspect()
end
