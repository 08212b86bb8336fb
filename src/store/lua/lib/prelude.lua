-- Opens every script.
-- KEYS share one hash tag. A script receives the keys that its text names as K.<name>, in one order for all scripts, then the keys
-- of its requests, three of each: FIRST_REQUEST is the index of the first; its Ask, Run and immutable record are K.ask, K.run and K.record.
-- ARGV[1] is the thread id; the others are documented by each script.
-- A script checks first and may return at any check; once it writes, it writes everything. Values that several of its steps write to
-- the same place are written once, by `at_end`, after its last line.
local thread_id = ARGV[1]

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function int(value)
  return string.format('%.0f', value)
end
local NOW = int(now)

local last_writes = {}
local function at_end(write)
  last_writes[#last_writes + 1] = write
end

-- What follows from a change, for other Runs of the same plan: done after the last line of a script, or before if it asks for it, and
-- before the last writes.
local follow_ups = {}
local function follow_up()
  while #follow_ups > 0 do table.remove(follow_ups, 1)() end
end

-- The report that follows the reply. `due_work` has the name of each piece of work that is now due, and in how many ms; `events` has the
-- rows that were added to the audit log, each as event, subject, detail and facts.
local due_work, events, is_reported = {}, {}, {}
local function report_due(work, at)
  local delay = int(math.max(0, at - now))
  if is_reported[work .. ' ' .. delay] then return end
  is_reported[work .. ' ' .. delay] = true
  due_work[#due_work + 1] = work
  due_work[#due_work + 1] = delay
end

-- The facts of a subject that logs and metrics name beside an event, as a function.
local facts_of = {}

local function words(text)
  local list = {}
  for word in string.gmatch(text or '', '%S+') do list[#list + 1] = word end
  return list
end

-- A round names its requests by the part of the id after the thread id.
local function interrupt_of(request_id)
  return string.match(request_id, '~(.*)$')
end

-- Reads fields of a hash by name; a missing field is nil.
local function read(key, ...)
  local names = { ... }
  local values = redis.call('HMGET', key, ...)
  local found = {}
  for i = 1, #names do found[names[i]] = values[i] or nil end
  return found
end

-- Reads a whole hash, which is faster for a packed hash than reading some of its fields.
local function read_all(key)
  local stored = redis.call('HGETALL', key)
  local found = {}
  for i = 1, #stored, 2 do found[stored[i]] = stored[i + 1] end
  return found
end

-- Passes many values to a command in batches of 1,000, because Lua limits their number. Values that belong together (a score and
-- its member) come in pairs.
local function change(command, key, values)
  for first = 1, #values, 1000 do
    redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

-- Appends one list to another.
local function append(list, more)
  for i = 1, #more do list[#list + 1] = more[i] end
end
