-- Stores the account that a person has connected at a server, encrypted by the caller.
-- ARGV
--   1 the server, which is part of the key
--   2 person
--   3 version that is replaced, or '' for whatever is there
--   4 version of the new value
--   5 the encrypted value
-- Returns
--   {'saved'}              also for the same version again
--   {'stale'}              the person has disconnected or connected anew meanwhile
local person, expected, version, value = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local current = redis.call('HGET', K.versions, person)
if current == version then return { 'saved' } end -- guard: save-connection-repeated
if expected ~= '' and current ~= expected then return { 'stale' } end -- guard: save-connection-stale

redis.call('HSET', K.versions, person, version)
redis.call('HSET', K.connections, person, value)
return { 'saved' }
