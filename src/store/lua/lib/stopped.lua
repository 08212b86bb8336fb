-- A stop is kept for the turn that it found running: `stop` has the token of the turn; `stopped_by` has the token again, then a line for
-- each person who stopped it: who, when, and digest and body of the audit row of what it withdraws.
local function stops_of(thread, token)
  local stops = {}
  if thread.stop ~= token or string.match(thread.stopped_by or '', '^%S*') ~= token then return stops end
  for who, digest, body in string.gmatch(thread.stopped_by, '\n(%S+) %S+ (%S+) ([^\n]*)') do
    append(stops, { { who = who, digest = digest, body = body } })
  end
  return stops
end

-- Keeps who stops the turn that has not ended, once.
local function record_stop(thread, who, body, digest)
  local stops = stops_of(thread, thread.token)
  for _, stop in ipairs(stops) do
    if stop.who == who then return end -- guard: stop-repeated
  end
  local before = #stops > 0 and thread.stopped_by or thread.token
  local line = table.concat({ who, NOW, digest, body }, ' ')
  redis.call('HSET', K.thread, 'stop', thread.token, 'stopped_by', before .. '\n' .. line)
end
