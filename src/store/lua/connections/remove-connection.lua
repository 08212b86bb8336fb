-- Removes the account that a person has connected at a server.
-- ARGV
--   1 the server, which is part of the key
--   2 person
-- Returns
--   {'removed'}            also if there was none
local person = ARGV[2]

redis.call('HDEL', K.versions, person)
redis.call('HDEL', K.connections, person)
return { 'removed' }
