-- Brings the table of freezes to a shard. From then on the scripts that start something there refuse what is frozen; what a freeze
-- held and does not hold any more is due at once.
-- ARGV
--   1 ''
--   2 epoch of the table
--   3 '1' if the cards of the shard show it by now
--   4 number of freezes, then the name and the value of each
-- Returns
--   {'applied', actions that are to run, open requests whose cards have to show it}    also for the same call again
--   {'current'}            the shard has this table or a newer one, and its cards show it
local epoch, shown = tonumber(ARGV[2]), ARGV[3]
local known = read(K.frozen, 'epoch', 'shown')

if tonumber(known.epoch or '0') > epoch then return { 'current' } end -- guard: apply-freezes-older
if tonumber(known.shown or '0') >= epoch then return { 'current' } end -- guard: apply-freezes-shown
if shown == '1' and tonumber(known.epoch or '0') == epoch then
  redis.call('HSET', K.frozen, 'shown', int(epoch))
  return { 'current' }
end

redis.call('DEL', K.frozen)
redis.call('HSET', K.frozen, 'epoch', int(epoch), 'shown', known.shown or '0', unpack(ARGV, 5))
for _, id in ipairs(redis.call('ZRANGEBYSCORE', K.run, '(' .. NOW, '+inf')) do redis.call('ZADD', K.run, NOW, id) end
return { 'applied', redis.call('ZRANGE', K.run, '0', '-1'), redis.call('ZRANGEBYSCORE', K.states, '1', '2') }
