-- Records a manifest in place of one that no process can read any more, by an operator's decision; an approval of a change is used up.
-- ARGV
--   1 ''
--   2 digest of the manifest before it
--   3 digest
--   4 the manifest (JSON)
--   5 operator
--   6 audit body (JSON)
--   7 digest of the body
-- Returns
--   {'adopted'}            also for the same call again
--   {'changed'}            another process has recorded another one
--- include audit
local former, digest, manifest, who, body, body_digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local current = redis.call('HGET', K.manifest, 'digest') or ''

if current == digest then return { 'adopted' } end -- guard: adopt-manifest-repeated
if current ~= former then return { 'changed' } end -- guard: adopt-manifest-changed

redis.call('HSET', K.manifest, 'digest', digest, 'body', manifest)
redis.call('HDEL', K.manifest, 'approved')
audit('manifest-adopted', 'manifest:' .. digest, who, body, body_digest)
return { 'adopted' }
