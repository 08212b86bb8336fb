-- Brings the table of delegations to a shard. From then on the votes there are checked against it.
-- ARGV
--   1 ''
--   2 epoch of the table
--   3 name and value of each delegation
-- Returns
--   {'applied'}
--   {'current'}            the shard has this table or a newer one
local epoch = tonumber(ARGV[2])

if tonumber(redis.call('HGET', K.delegated, 'epoch') or '0') >= epoch then return { 'current' } end -- guard: apply-delegations-older

redis.call('DEL', K.delegated)
local entries = { 'epoch', int(epoch) }
for i = 3, #ARGV do entries[i] = ARGV[i] end
change('HSET', K.delegated, entries)
return { 'applied' }
