-- Opens every script. Its keys share one hash tag; those that its text names as K.<name> are given to it, in one order for all
-- scripts, and after them the requests that it is about: FIRST_REQUEST is the place of the first, which is K.request as well.
-- ARGV[1] is the thread's id; what follows is the script's own.
-- A script first checks and may return at any check; once it has written, it writes all. What several of its steps write in the
-- same place is written once, after its last line.
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

local function words(text)
  local list = {}
  for word in string.gmatch(text or '', '%S+') do list[#list + 1] = word end
  return list
end

local function has_word(text, word)
  return string.find(' ' .. text .. ' ', ' ' .. word .. ' ', 1, true) ~= nil
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

-- Reads a whole hash: one that is packed is read so faster than some fields of it by their names.
local function read_all(key)
  local stored = redis.call('HGETALL', key)
  local found = {}
  for i = 1, #stored, 2 do found[stored[i]] = stored[i + 1] end
  return found, stored
end

-- Reads ARGV from a position on, one value at a time.
local function reader(position)
  return function()
    local value = ARGV[position]
    position = position + 1
    return value
  end
end

-- Adds many to a list, a hash or a sorted set, or takes them away, in few calls: Lua hands over only so many values at a time.
-- What belongs together (a score and its member) comes in twos.
local function change(command, key, values)
  for first = 1, #values, 1000 do
    redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

-- Adds what a second script says to what the first said.
local function append(said, more)
  for i = 1, #more do said[#said + 1] = more[i] end
end
