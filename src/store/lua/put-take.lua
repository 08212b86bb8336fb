-- Puts what somebody said into a thread where nothing waits, and gives the right to write its next turn at once.
-- ARGV: thread, as for `put` the item's id, the item and '1' if only a known thread takes it, as for `take` who takes it and how
-- long the lease holds in ms.
-- Result: {'waiting', the interrupts that wait} if nothing was put because something does; else as `put` says, and after a 'put'
-- as `take` says; the same call again gives the same token.
--- include thread
--- include wake
--- script put
--- script take
local owner = ARGV[5]

if tonumber(thread.open or '0') > 0 then -- guard: put-take-waiting
  local waiting = { 'waiting' }
  local round = redis.call('HGETALL', K.round)
  for i = 1, #round, 2 do
    if round[i + 1] == 'pending' then waiting[#waiting + 1] = round[i] end
  end
  return waiting
end
local said = put({ ARGV[1], ARGV[2], ARGV[3], ARGV[4] })
if said[1] == 'duplicate' and thread.owner == owner then said = { 'put', '0', int(redis.call('LLEN', K.inbox)), '0' } end -- guard: put-take-repeated
if said[1] == 'put' then append(said, take({ ARGV[1], owner, ARGV[6] })) end
return said
