-- Delegations are one document with a line for each: from whom, to whom, until when, and what only people read.
local function stands_for(who, person)
  for from, to, ends in string.gmatch(redis.call('GET', K.document .. ':delegations|table') or '', '\n(%S+) (%S+) (%d+)') do
    if from == person then
      if to ~= who then return false end -- guard: delegated-to
      if now >= tonumber(ends) then return false end -- guard: delegated-until
      return true
    end
  end
  return false
end

-- Finds who else has a vote in which one of these two has a part, as the voter or as the one it was cast for: everybody has a part in one
-- vote only. Of several it is the first by name.
local function vote_beside(who, for_whom)
  local found = nil
  for name in pairs(request) do
    local voter = string.match(name, '^vote:(.*)$')
    if voter and voter ~= who then
      local represented = request['for:' .. voter] or ''
      local is_beside = represented == who or (for_whom ~= '' and (voter == for_whom or represented == for_whom))
      if is_beside and (not found or voter < found) then found = voter end
    end
  end
  return found
end
