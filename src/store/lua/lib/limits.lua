-- Limits. `limit:<name>` has the count and the sum of each slice of time, a sixtieth of the window, so that a start reads no more than
-- these, however many actions there were. `counted:<action>` has what one action counts, so that it counts once and can be taken back.
-- An action counts until the whole of its slice has left the window.
local SLICES = 60

local function amount_text(value)
  return string.format('%.17g', value)
end

-- Reads a limit: its slices that count, the names of the others, and the totals.
local function read_limit(name, window)
  local size = math.ceil(window / SLICES)
  local limit = { key = K.limit .. ':' .. name, size = size, window = window, slices = {}, over = {}, count = 0, sum = 0 }
  local stored, first = read_all(limit.key), math.floor((now - window) / size)
  local former = tonumber(stored.size or size)
  stored.size = nil
  for slice, value in pairs(stored) do
    local count, sum = string.match(value, '^(%S+) (%S+)$')
    -- After a change of the window a slice moves to the one that has its end, so that nothing leaves too early.
    local place = former == size and tonumber(slice) or math.floor(((slice + 1) * former - 1) / size)
    local is_over = false
    if place < first then is_over = true end -- guard: limit-window
    if is_over or former ~= size then append(limit.over, { slice }) end
    if not is_over then
      local there = limit.slices[place] or { count = 0, sum = 0 }
      limit.slices[place] = { count = there.count + count, sum = there.sum + sum }
      limit.count, limit.sum = limit.count + count, limit.sum + sum
    end
  end
  limit.is_resized = former ~= size
  return limit
end

local function add_to(limit, slice, count, amount)
  local there = limit.slices[slice] or { count = 0, sum = 0 }
  limit.slices[slice] = { count = there.count + count, sum = there.sum + amount }
end

local function write_slice(limit, slice)
  local there = limit.slices[slice]
  if there.count <= 0 then
    redis.call('HDEL', limit.key, int(slice))
  else
    redis.call('HSET', limit.key, int(slice), int(there.count) .. ' ' .. amount_text(there.sum))
  end
end

-- Adds a use to the present slice of a limit, and drops the slices that have left the window.
local function add_use(limit, use)
  local current = math.floor(now / limit.size)
  change('HDEL', limit.key, limit.over)
  add_to(limit, current, 1, use.amount)
  if limit.is_resized then
    for slice in pairs(limit.slices) do write_slice(limit, slice) end
  end
  write_slice(limit, current)
  redis.call('HSET', limit.key, 'size', int(limit.size))
  redis.call('PEXPIRE', limit.key, int(limit.window + limit.size))
  return current
end

-- Counts a success, for the transition that records it and happens once; nothing takes it back.
local function count_done(uses)
  for _, use in ipairs(uses) do add_use(read_limit(use.name, use.window), use) end
end

-- Counts the success of the action of a request, as its start has kept it: of each counter a line with its window and its name.
local function count_kept(done)
  for window, name in string.gmatch(done or '', '(%d+) ([^\n]+)') do
    count_done({ { name = name, amount = 0, window = tonumber(window) } })
  end
end

-- Reads the limits of an action: of each its name, the amount, most or '' to count only, window in ms.
local function uses_of(list)
  local uses = {}
  for i, use in ipairs(list) do
    uses[i] = { name = use[1], amount = tonumber(use[2]), most = use[3], window = tonumber(use[4]) }
  end
  return uses
end

-- Counts an action against all of its limits, or against none: then it returns the number of the limit that it would exceed, and how much
-- of it is used. An action that counts already is not refused, unless it now counts more.
local function count_action(action, uses)
  if #uses == 0 then return nil end
  local key, writes, longest = K.counted .. ':' .. action, {}, 0
  local own = read_all(key)
  for i, use in ipairs(uses) do
    local limit = read_limit(use.name, use.window)
    local size, slice, amount = string.match(own[use.name] or '', '^(%S+) (%S+) (%S+)$')
    local former = nil
    if tonumber(size) == limit.size and limit.slices[tonumber(slice)] then former = tonumber(amount) end -- guard: limit-counted
    local used = limit.sum - (former or 0)
    local is_more = not former or use.amount > former
    if use.most ~= '' and is_more and used + use.amount > tonumber(use.most) then return i, used end -- guard: limit-over
    writes[i] = { limit = limit, use = use, former = former, slice = tonumber(slice) }
  end
  for _, write in ipairs(writes) do
    local limit, use = write.limit, write.use
    if write.former then
      add_to(limit, write.slice, -1, -write.former)
      write_slice(limit, write.slice)
    end
    local current = add_use(limit, use)
    redis.call('HSET', key, use.name, table.concat({ int(limit.size), int(current), amount_text(use.amount) }, ' '))
    longest = math.max(longest, limit.window + limit.size)
  end
  redis.call('PEXPIRE', key, int(longest))
  return nil
end

-- Takes back what an action counts, because it had no effect.
local function take_back(action)
  local key = K.counted .. ':' .. action
  for name, value in pairs(read_all(key)) do
    local size, slice, amount = string.match(value, '^(%S+) (%S+) (%S+)$')
    local limit = { key = K.limit .. ':' .. name, slices = {} }
    local stored = read(limit.key, 'size', slice)
    local count, sum = string.match(stored[slice] or '', '^(%S+) (%S+)$')
    -- What was counted for another window stays counted.
    if count and stored.size == size then
      limit.slices[tonumber(slice)] = { count = count - 1, sum = sum - amount }
      write_slice(limit, tonumber(slice))
    end
  end
  redis.call('DEL', key)
end
