-- Ends a request that nobody decided in time.
-- ARGV
--   1 thread id
--   2 request id
-- Returns
--   {'expired'}            also for the same call again
--   {'settled', state, by}
--   {'not-due'}, {'unknown'}
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
