-- Gives back what an action has reserved: for an attempt that did not start, unless another attempt holds it too, or for an action that
-- had no effect.
-- ARGV
--   1 ''
--   2 action
--   3 attempt, or '' for all of them
-- Returns
--   {'given-back'}         also for the same call again
local action, attempt = ARGV[2], ARGV[3]

for i = FIRST_REQUEST, #KEYS do
  local at, counted, attempts = string.match(redis.call('HGET', KEYS[i], action) or '', '^(%S+) (%S+) (.*)$')
  local others = {}
  for _, other in ipairs(words(attempts)) do
    if attempt ~= '' and other ~= attempt then others[#others + 1] = other end -- guard: give-back-held
  end
  if #others == 0 then
    redis.call('HDEL', KEYS[i], action)
  else
    redis.call('HSET', KEYS[i], action, table.concat({ at, counted, table.concat(others, ' ') }, ' '))
  end
end
return { 'given-back' }
