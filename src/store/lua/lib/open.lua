-- Writes a new Ask with its Run, and what makes them known: cards, lists, timers and the audit row. Each request has three keys; `number`
-- says which are its own, from 1. `people` is the set of those whose Home shows it, and `card_at` gives each card its place in the outbox.
--- include audit
--- include homes
local function open_request(asked, number, people, card_at)
  local key, run, record_key = unpack(KEYS, FIRST_REQUEST + 3 * number - 3, FIRST_REQUEST + 3 * number - 1)
  local id, kind, body, digest, requesters, principals = asked.id, asked.kind, asked.body, asked.digest, words(asked.requesters), words(asked.asked)
  local expires, remind_every, escalate_after = int(now + asked.expires), asked.remind, asked.escalate
  -- Nobody is asked about a step by itself: it has no Ask, is in no list and has no timers.
  local is_step = kind == 'step'
  if not is_step then redis.call('HSET', key, 'created', NOW, 'expires', expires) end
  change('HSET', key, asked.ask)
  change('HSET', run, asked.run)
  redis.call('SET', record_key, asked.record)
  local cards, waiting, listed = {}, {}, {}
  for _, view in ipairs(asked.views) do append(cards, { string.format('%.4f', card_at()), 'view|' .. id .. '|' .. view }) end
  change('ZADD', K.outbox, cards)
  if #cards > 0 then report_due('outbox', now) end
  for _, person in ipairs(principals) do append(waiting, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.waiting, waiting)
  for _, person in ipairs(is_step and {} or requesters) do append(listed, { '0', person .. ' ' .. NOW .. ' ' .. id }) end
  change('ZADD', K.asked, listed)
  add_people(add_people(people, principals, asked.views), requesters, {})
  if not is_step then redis.call('ZADD', K.states, kind == 'unknown' and '4' or '1', id) end
  local timers = (kind == 'unknown' or is_step) and {} or { expires, 'expire|' .. id }
  if remind_every ~= '' then append(timers, { int(now + remind_every), 'remind|' .. id }) end
  if escalate_after ~= '' then append(timers, { int(now + escalate_after), 'escalate|' .. id }) end
  change('ZADD', K.timers, timers)
  for at = 1, #timers, 2 do report_due(timers[at + 1], tonumber(timers[at])) end
  facts_of[id] = function()
    local stored = read(is_step and string.sub(key, 1, -1 - #id) .. asked.plan or key, 'kind', 'requester', 'tool', 'policy', 'trace')
    local tool = is_step and redis.call('HGET', run, 'tool') or stored.tool or ''
    return table.concat({ stored.kind, stored.requester, NOW, '', tool, stored.policy or '', stored.trace or '' }, '\n')
  end
  if kind == 'unknown' then audit('unknown', id, 'try 1', body, digest) else audit('asked', id, kind, body, digest) end
end
