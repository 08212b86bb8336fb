-- App Home. `home|<person>` of the rows has until when the Home of a person, or of the members of a group, is kept up to date. One that
-- shows a request that changes is published after a moment, so that changes that follow each other are published together.
local HOME_MS = 1000
local function refresh_homes(people)
  local homes, tries, due = {}, {}, {}
  for person in pairs(people) do
    homes[#homes + 1] = 'home|' .. person
    tries[#tries + 1] = 'tries|home|' .. person
  end
  if #homes == 0 then return end
  local kept, refused = redis.call('HMGET', K.rows, unpack(homes)), redis.call('HMGET', K.rows, unpack(tries))
  for i, home in ipairs(homes) do
    local is_open = kept[i] and tonumber(string.match(kept[i], '^%d+')) > now
    -- One that Slack has refused keeps its time.
    if is_open and not refused[i] then append(due, { int(now + HOME_MS), home }) end
  end
  if #due == 0 then return end
  redis.call('ZADD', K.outbox, 'LT', unpack(due))
  report_due('outbox', now + HOME_MS)
end

-- Adds the people of a list to those of a set, and those who have a card of a list of views.
local function add_people(people, ids, views)
  for _, id in ipairs(ids) do people[id] = true end
  for _, view in ipairs(views) do
    local person = string.match(view, '^to%-(.+)$')
    if person then people[person] = true end
  end
  return people
end
