-- Appends a signed checkpoint. Each names the one before it, so that two processes never continue the same one.
-- ARGV
--   1 ''
--   2 owner of the lease, which is the document `lock|export`
--   3 number
--   4 hash
--   5 hash of the checkpoint before it, '' for the first
--   6 the checkpoint (JSON)
-- Returns
--   {'appended'}           also for the same call again
--   {'not-held'}           another process signs now
--   {'not-next'}           also if this number was deleted: a stream never takes a number twice
local owner, n, hash, previous, body = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local last = { n = '0', hash = '' }
local newest = redis.call('XREVRANGE', K.checkpoints, '+', '-', 'COUNT', '1')[1]
if newest then last = { n = string.match(newest[1], '^%d+'), hash = newest[2][2] } end

if last.n == n and last.hash == hash then return { 'appended' } end -- guard: append-checkpoint-repeated
if string.match(redis.call('GET', K.document .. ':lock|export') or '', '^[^\n]*') ~= owner then return { 'not-held' } end -- guard: append-checkpoint-held
if tonumber(n) ~= last.n + 1 or previous ~= last.hash then return { 'not-next' } end -- guard: append-checkpoint-next

local added = redis.pcall('XADD', K.checkpoints, n .. '-0', 'h', hash, 'b', body)
if type(added) == 'table' then return { 'not-next' } end -- guard: append-checkpoint-deleted
return { 'appended' }
