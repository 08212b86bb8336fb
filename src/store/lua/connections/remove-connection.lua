-- Removes the account that a person has connected at a server.
-- ARGV
--   1 the server, which is part of the key
--   2 person
--   3 version that is removed, or '' for whatever is there
-- Returns
--   {'removed'}            also if there was none
--   {'stale'}              the account was renewed or connected anew meanwhile
local person, expected = ARGV[2], ARGV[3]

local current = redis.call('HGET', K.versions, person)
if expected ~= '' and current and current ~= expected then return { 'stale' } end -- guard: remove-connection-stale

redis.call('HDEL', K.versions, person)
redis.call('HDEL', K.connections, person)
return { 'removed' }
