-- Says that an attempt is alive, and how far it is.
-- ARGV: thread, request, the attempt, how long it may be silent from now on in ms, its progress ('' for none).
-- Result: {'beaten'} or {'lost', state}; the same call again draws nothing anew.
--- include request
local attempt, silence, progress = ARGV[3], tonumber(ARGV[4]), ARGV[5]

if request.state ~= 'started' or request.attempt ~= attempt then return { 'lost', request.state or '' } end -- guard: beat-lost

due('recover', now + silence)
if progress == '' then return { 'beaten' } end
if request.progress == progress then return { 'beaten' } end -- guard: beat-repeated
redis.call('HSET', K.request, 'progress', progress)
redraw()
return { 'beaten' }
