-- Claims or renews the lease of the one process that signs and exports the audit log. The first owner ever becomes the id of the log.
-- ARGV
--   1 ''
--   2 owner
--   3 lease in ms; 0 releases it
-- Returns
--   {'held'}               also for the same call again
--   {'other'}              another process holds it
local owner, lease = ARGV[2], tonumber(ARGV[3])
local held = read(K.export, 'owner', 'lease_until')

if held.owner and held.owner ~= owner and now < tonumber(held.lease_until) then return { 'other' } end -- guard: claim-export-other

redis.call('HSETNX', K.export, 'id', owner)
redis.call('HSET', K.export, 'owner', owner, 'lease_until', int(now + lease))
return { 'held' }
