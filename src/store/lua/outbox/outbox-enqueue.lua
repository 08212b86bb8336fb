-- Stores a message that has to be sent. With an owner it is claimed by its sender at once.
-- ARGV
--   1 thread id
--   2 id of the row
--   3 the row (JSON)
--   4 owner of the claim, or ''
--   5 length of the claim in ms
-- Returns
--   {'enqueued'}           the same call again changes nothing, also after the row was sent
--- include send
local row_id, row, owner, lease = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

if owner == '' then
  send(row_id, row)
elseif send(row_id, row, now + lease) then
  redis.call('HSET', K.rows, 'claim|row|' .. row_id, owner, 'since|row|' .. row_id, NOW)
end
return { 'enqueued' }
