-- Writes or removes a document: a value with a version, which whoever changes it can name.
-- ARGV
--   1 group and id of the document
--   2 version, new for every change, or '' to remove it
--   3 the value
--   4 '1' if it must replace one version
--   5 that version, '' for none
--   6 how long it is kept, in ms, or 0
--   7 event for the audit log, or ''
--   8 subject
--   9 detail
--  10 audit body (JSON)
--  11 digest of the body
-- Returns
--   {'written'}            also for the same version again, which is kept for that long from now
--   {'stale'}              another version is there
--- include audit
local version, value, is_checked, replaced, keep, event = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local key = K.document .. ':' .. thread_id
local current = string.match(redis.call('GET', key) or '', '^[^\n]*')

local function keep_until_end()
  if keep ~= '0' then redis.call('PEXPIRE', key, keep) end
  local ends = keep ~= '0' and int(now + keep) or '+inf'
  redis.call('ZADD', K.documents, ends, thread_id)
end

if version ~= '' and current == version then -- guard: document-repeated
  keep_until_end()
  return { 'written' }
end
if version == '' and current == '' then -- guard: document-removed
  redis.call('ZREM', K.documents, thread_id)
  return { 'written' }
end
if is_checked == '1' and current ~= replaced then return { 'stale' } end -- guard: document-stale

redis.call('ZREMRANGEBYSCORE', K.documents, '-inf', NOW)
if version == '' then
  redis.call('DEL', key)
  redis.call('ZREM', K.documents, thread_id)
else
  redis.call('SET', key, version .. '\n' .. value)
  keep_until_end()
end
if event ~= '' then audit(event, ARGV[8], ARGV[9], ARGV[10], ARGV[11]) end
return { 'written' }
