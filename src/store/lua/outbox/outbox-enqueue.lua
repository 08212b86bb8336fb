-- Stores a message that has to be sent.
-- ARGV
--   1 thread id
--   2 id of the row
--   3 the row (JSON)
-- Returns
--   {'enqueued'}           the same call again changes nothing, also after the row was sent
--- include send
local row_id, row = ARGV[2], ARGV[3]

send(row_id, row)
return { 'enqueued' }
