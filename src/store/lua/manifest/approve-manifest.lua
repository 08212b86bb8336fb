-- Notes that people have approved one change of the manifest that is active.
-- ARGV
--   1 ''
--   2 digest of the manifest that the change starts from
--   3 digest of the manifest that it leads to
--   4 key of the change
-- Returns
--   {'approved'}           also for the same call again, and once the other manifest is active
--   {'changed'}            another manifest is active by now
local former, next, change = ARGV[2], ARGV[3], ARGV[4]
local current = redis.call('HGET', K.manifest, 'digest') or ''

if current == next then return { 'approved' } end -- guard: approve-manifest-repeated
if current ~= former then return { 'changed' } end -- guard: approve-manifest-changed

redis.call('HSET', K.manifest, 'approved', change)
return { 'approved' }
