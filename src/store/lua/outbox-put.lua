-- Writes down a message that has to be sent, before anybody sends it.
-- ARGV: thread, the row's id, the row.
-- Result: {'put'}; the same call again changes nothing, also when the row was sent meanwhile.
--- include send
local row_id, row = ARGV[2], ARGV[3]

send(row_id, row)
return { 'put' }
