-- Writes or removes a document: a value with a version, which whoever changes it can name.
-- ARGV
--   1 group and id of the document, which are part of the key
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
--   {'written'}            also for the same call again
--   {'stale'}              another version is there
--- include audit
local version, value, is_checked, replaced, keep, event = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local current = string.match(redis.call('GET', K.document) or '', '^[^\n]*')

if version ~= '' and current == version then return { 'written' } end -- guard: document-repeated
if version == '' and current == '' then return { 'written' } end -- guard: document-removed
if is_checked == '1' and current ~= replaced then return { 'stale' } end -- guard: document-stale

if version == '' then
  redis.call('DEL', K.document)
  redis.call('ZREM', K.documents, thread_id)
elseif keep == '0' then
  redis.call('SET', K.document, version .. '\n' .. value)
  redis.call('ZADD', K.documents, '0', thread_id)
else
  redis.call('SET', K.document, version .. '\n' .. value, 'PX', keep)
  redis.call('ZREM', K.documents, thread_id)
end
if event ~= '' then audit(event, ARGV[8], ARGV[9], ARGV[10], ARGV[11]) end
return { 'written' }
