-- Lets one person decide for another until a time, in place of an earlier delegation of that person.
-- ARGV
--   1 ''
--   2 from whom
--   3 id of the delegation
--   4 to whom
--   5 until when, in ms
--   6 why (JSON)
--   7 audit body (JSON)
--   8 digest of the body
-- Returns
--   {'delegated'}          also for the same call again
--   {'over'}               its time has passed
--- include audit
local from, id, to, ends, text, body, digest = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]
local ENTRY = '^%S+ (%S+) %S+ (%d+)'
local table_now, subject = read_all(K.delegations), 'delegation:' .. from
local former, former_ends = string.match(table_now['from|' .. from] or '', ENTRY)

if former == id then return { 'delegated' } end -- guard: delegate-repeated
if ends <= now then return { 'over' } end -- guard: delegate-over

if former and tonumber(former_ends) > now then audit('delegation-ended', subject, former .. ' replaced', body, digest) end
for name, entry in pairs(table_now) do
  local _, over = string.match(entry, ENTRY)
  if over and tonumber(over) <= now then redis.call('HDEL', K.delegations, name) end
end
redis.call('HSET', K.delegations, 'from|' .. from, table.concat({ NOW, id, to, int(ends), text }, ' '))
audit('delegated', subject, table.concat({ id, to, 'until', int(ends) }, ' '), body, digest)
return { 'delegated' }
