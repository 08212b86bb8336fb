-- Notes that the people who may decide have to be reminded, and when next.
-- ARGV: thread, request, the id of the reminder's outbox row, the row.
-- Result: {'reminded'}, {'settled', state, by}, {'not-due'} or {'unknown'}; the same call again is 'not-due'.
--- include request
--- include send
local row_id, row = ARGV[3], ARGV[4]

if not request.state then -- guard: remind-unknown
  forget('remind')
  return { 'unknown' }
end
if request.state ~= 'pending' then return settled() end -- guard: remind-settled
local at = redis.call('ZSCORE', K.timers, 'remind|' .. request_id)
if not at or now < tonumber(at) then return { 'not-due' } end -- guard: remind-due
if not tonumber(request.remind_every) then return { 'malformed', 'remind_every' } end -- guard: remind-malformed

due('remind', now + request.remind_every)
send(row_id, row)
audit('reminded', request_id, '', '', '')
return { 'reminded' }
