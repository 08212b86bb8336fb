-- Approver groups. `groups` of a request has one word for each group, its quorum and its members: "1:S1,U2 2:S3". The field
-- `groups:<person>` holds the numbers of the groups for which that person has voted.
local function numbers(text)
  local set = {}
  for number in string.gmatch(text or '', '%d+') do set[tonumber(number)] = true end
  return set
end

-- Counts the places that people can fill, each person in one place only: the largest matching of people to the places of all groups.
-- `people` has a set of group numbers for each person.
local function filled_places(people)
  local places = {}
  for number, group in ipairs(words(request.groups)) do
    for _ = 1, tonumber(string.match(group, '^%d+')) do places[#places + 1] = number end
  end
  local holders = {}
  local function seat(person, tried)
    for place, number in ipairs(places) do
      if people[person][number] and not tried[place] then
        tried[place] = true
        if not holders[place] or seat(holders[place], tried) then
          holders[place] = person
          return true
        end
      end
    end
    return false
  end
  local filled = 0
  for person in pairs(people) do
    if seat(person, {}) then filled = filled + 1 end
  end
  return filled
end
