-- Records one person's approval and starts the action, where the record alone can tell that this person, by name, is all that is
-- needed and that nothing has changed since it was asked. Whatever else there is takes `vote-start`, and more than the record knows.
-- ARGV: thread, request, who, what it rests on now, the views at one of which they saw it ('' if anywhere), what is said of the vote
-- (JSON), its digest, as for `start` the attempt, how long it may be silent in ms, what is said of it (JSON) and its digest.
-- Result: {'signed', requester, digest, what never changes of it (JSON), '1' if its round and the inbox hold nothing else} or {'look',
-- the fields of the request, what never changes of it}, with nothing written; the same call again is 'signed'.
--- include request
--- script vote
--- script start
local who, ground, seen_at, attempt = ARGV[3], ARGV[4], ARGV[5], ARGV[8]
local record = redis.call('GET', K.record)

local function look()
  return { 'look', stored_request, record or '' }
end

local function signed()
  local alone = redis.call('HLEN', K.round) == 1 and redis.call('LLEN', K.inbox) == 0
  return { 'signed', request.requester, request.digest, record, alone and '1' or '0' }
end

if request.state == 'started' and request.attempt == attempt then return signed() end -- guard: sign-repeated
if request.state ~= 'pending' or request.kind ~= 'approval' then return look() end -- guard: sign-pending
if now >= tonumber(request.expires) then return look() end -- guard: sign-expired
if request.quorum ~= '1' or request.rejections ~= '0' then return look() end -- guard: sign-alone
if who == request.requester and request.self ~= '1' then return look() end -- guard: sign-own
if not request.ground or request.ground ~= ground then return look() end -- guard: sign-ground
if not has_word(request.principals, who) then return look() end -- guard: sign-named
-- The first version of requests has it elsewhere.
if not record then return look() end -- guard: sign-record
local stands = seen_at == ''
for _, view in ipairs(words(seen_at)) do stands = stands or has_word(request.views, view) end
if not stands then return look() end -- guard: sign-seen

vote({ ARGV[1], ARGV[2], who, 'approve', request.digest, '1', ARGV[6], ARGV[7], '' })
start({ ARGV[1], ARGV[2], attempt, request.digest, ARGV[9], ARGV[10], ARGV[11], who })
return signed()
