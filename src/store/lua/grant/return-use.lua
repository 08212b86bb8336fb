-- Returns the use of a grant that a call has taken and not started with.
-- ARGV
--   1 ''
--   2 id
--   3 call
--   4 audit body (JSON)
--   5 digest of the body
-- Returns
--   {'returned'}           also for the same call again
--- include audit
local id, call, body, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local key = KEYS[FIRST_REQUEST]

if redis.call('HDEL', key, 'call:' .. call) == 1 then -- guard: return-use-taken
  redis.call('HINCRBY', key, 'used', -1)
  audit('grant-returned', 'grant:' .. id, call, body, digest)
end
return { 'returned' }
