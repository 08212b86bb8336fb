-- Opens every script. KEYS are the same for all of them and share one hash tag: the thread's own keys, the shard's, then
-- the requests that the script is about. ARGV[1] is the thread's id; what follows is the script's own.
-- A script first checks and may return at any check; once it has written, it writes all.
local K = {
  thread = KEYS[1], log = KEYS[2], inbox = KEYS[3], seen = KEYS[4], round = KEYS[5],
  timers = KEYS[6], wake = KEYS[7], run = KEYS[8], outbox = KEYS[9], rows = KEYS[10], audit = KEYS[11], head = KEYS[12],
  waiting = KEYS[13], asked = KEYS[14], decided = KEYS[15], sent = KEYS[16],
  request = KEYS[17],
}
local FIRST_REQUEST = 17
local thread_id = ARGV[1]

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function int(value)
  return string.format('%.0f', value)
end

local function words(text)
  local list = {}
  for word in string.gmatch(text or '', '%S+') do list[#list + 1] = word end
  return list
end

-- A round names its requests by what they add to the thread's id.
local function interrupt_of(request_id)
  return string.match(request_id, '~(.*)$')
end

-- Reads some fields of a hash under the names they have there; a field that is missing is nil.
local function read(key, ...)
  local names = { ... }
  local values = redis.call('HMGET', key, ...)
  local found = {}
  for i = 1, #names do found[names[i]] = values[i] or nil end
  return found
end

-- One row of the audit log. The chain covers its number, its time, what happened, to what, what the script knows of it
-- and the digest of what the caller says of it; the caller's words themselves are covered by their digest.
local function audit(event, subject, detail, body, digest)
  local seq = redis.call('HINCRBY', K.head, 'seq', 1)
  local before = redis.call('HGET', K.head, 'hash') or ''
  local link = table.concat({ before, int(seq), int(now), event, subject, detail, digest }, '\n')
  local hash = redis.sha1hex(link)
  redis.call('HSET', K.head, 'hash', hash)
  redis.call('XADD', K.audit, int(seq) .. '-0', 't', int(now), 'e', event, 's', subject, 'd', detail, 'b', body, 'h', hash)
end

-- Writes down a message that has to be sent; one that waits already, or was sent not long ago, stays as it is.
local function send(row_id, row)
  if redis.call('HEXISTS', K.rows, row_id) == 1 then return end -- guard: send-waiting
  if redis.call('ZSCORE', K.sent, row_id) then return end -- guard: send-sent
  redis.call('HSET', K.rows, row_id, row)
  redis.call('ZADD', K.outbox, int(now), 'row|' .. row_id)
end

-- Reads ARGV from a position on, one value at a time.
local function reader(position)
  return function()
    local value = ARGV[position]
    position = position + 1
    return value
  end
end
