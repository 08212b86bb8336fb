-- Records the manifest that is active, in place of the one that the caller knows; an approval of it is used up.
-- ARGV
--   1 ''
--   2 digest of the manifest before it, '' if there is none
--   3 digest
--   4 the manifest (JSON)
-- Returns
--   {'recorded'}           also for the same call again
--   {'changed'}            another process has recorded another one
local former, digest, body = ARGV[2], ARGV[3], ARGV[4]
local current = redis.call('HGET', K.manifest, 'digest') or ''

if current == digest then return { 'recorded' } end -- guard: record-manifest-repeated
if current ~= former then return { 'changed' } end -- guard: record-manifest-changed

redis.call('HSET', K.manifest, 'digest', digest, 'body', body)
redis.call('HDEL', K.manifest, 'approved')
return { 'recorded' }
