-- Records that a call of a running turn is about to take effect. The messages that made the call are logged before it, so that the
-- next turn finds the call if this one dies. It counts against its limits and takes its use of a grant.
-- ARGV
--   1 thread id
--   2 token
--   3 ref of the call
--   4 run, new for every start
--   5 length of the log that the turn knows
--   6 number of inbox items that the messages hold
--   7 audit body (JSON)
--   8 digest of the body
--   9 tool
--  10 id of the grant that the call runs under, or ''
--  11 call, as the grant knows it
--  12 audit body of the use (JSON)
--  13 digest of the body
--  14 number of limits, then of each: name, amount, most or '' to count only, window in ms
--   . number of messages, then each message (JSON)
-- Returns
--   {'started', number of the run, uses of the grant}    also for the same run again
--   {'stale'}              another turn has the thread, or the lease is over
--   {'finished'}           the call has its result already
--   {'frozen'}             the tool is frozen
--   {'stopped'}            a person asked the turn to stop
--   {'ungranted', why}     the grant does not hold any more
--   {'over', number of the limit, how much of it is used}
--- include audit
--- include frozen
--- include limits
--- include grant
local token, ref, run, known, read_items, body, digest, tool =
  ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]
local grant, call, uses = ARGV[10], ARGV[11], read_uses(ARGV, 14)
local first_message = 16 + 4 * #uses
local function grant_uses()
  return grant == '' and '0' or redis.call('HGET', K.grants, 'used|' .. grant) or '0'
end
local thread = read(K.thread, 'token', 'owner', 'lease_until', 'stop', 'inbox_claimed')

if thread.token ~= token or not thread.owner then return { 'stale' } end -- guard: start-effect-stale
if tonumber(thread.lease_until) <= now then return { 'stale' } end -- guard: start-effect-lease
local state, last_run, runs, first = string.match(redis.call('HGET', K.effects, ref) or '', '^(%S+) (%S+) (%S+) (%S+)')
if state == 'finished' then return { 'finished' } end -- guard: start-effect-finished
if state == 'started' and last_run == run then return { 'started', runs, grant_uses() } end -- guard: start-effect-repeated
if thread.stop == token then return { 'stopped' } end -- guard: start-effect-stopped
if freeze_of(tool) then return { 'frozen' } end -- guard: start-effect-frozen
local ungranted = grant ~= '' and read_grant(grant, call)
if ungranted then return { 'ungranted', ungranted } end -- guard: start-effect-granted
local over, used = count_action(thread_id .. '/' .. ref, uses)
if over then return { 'over', int(over), amount_text(used) } end -- guard: start-effect-over

-- Another call of the same round may have logged the messages.
local is_logged = false
if redis.call('LLEN', K.log) ~= known then is_logged = true end -- guard: start-effect-logged
if not is_logged then
  for from = first_message, #ARGV, 1000 do redis.call('RPUSH', K.log, unpack(ARGV, from, math.min(from + 999, #ARGV))) end
  if read_items > 0 then
    redis.call('LTRIM', K.inbox, read_items, -1)
    if thread.inbox_claimed then redis.call('HINCRBY', K.thread, 'inbox_claimed', -read_items) end
  end
end
runs = int((runs or 0) + 1)
redis.call('HSET', K.effects, ref, table.concat({ 'started', run, runs, first or NOW, tool }, ' '))
if grant ~= '' then use_grant(grant, call, ARGV[12], ARGV[13]) end
audit('effect-started', thread_id, 'try ' .. runs .. ' ' .. run, body, digest)
return { 'started', runs, grant_uses() }
