-- Says how a person learns of a request: by a card of its own or, after so many cards in a window, by their digest.
-- ARGV
--   1 the person, in the place of a thread
--   2 request id
--   3 revision of the request
--   4 most cards in the window
--   5 length of the window in ms
--   6 delay in ms after which the digest is drawn
-- Returns
--   {'card'}
--   {'listed'}             the same request gets the same answer again
--- include digest
local request_id, most, window = ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])

if digest['on|' .. request_id] then return { 'listed' } end -- guard: digest-tell-listed
if digest['card|' .. request_id] then return { 'card' } end -- guard: digest-tell-card

local recent, old = 0, {}
for name, at in pairs(digest) do
  if string.sub(name, 1, 5) == 'card|' then
    if tonumber(at) > now - window then recent = recent + 1 end
    if tonumber(at) <= now - DAY then old[#old + 1] = name end
  end
end
if recent >= most then return list(request_id, ARGV[3], ARGV[6]) end -- guard: digest-tell-many

change('HDEL', K.digest, old)
redis.call('HSET', K.digest, 'card|' .. request_id, NOW)
keep()
return { 'card' }
