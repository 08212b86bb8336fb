-- Ends a request that nobody decided in time.
-- ARGV: thread, request.
-- Result: {'expired'}, {'settled', state, by}, {'not-due'} or {'unknown'}; the same call again is 'expired'.
--- include request
if not request.state then -- guard: expire-unknown
  forget('expire')
  return { 'unknown' }
end
if request.state == 'expired' then return { 'expired' } end -- guard: expire-repeated
if request.state ~= 'pending' then return settled() end -- guard: expire-settled
if now < tonumber(request.expires) then return { 'not-due' } end -- guard: expire-due

settle('expired', '', '')
audit('expired', request_id, '', '', '')
return { 'expired' }
