-- Records one person's vote on an approval, and settles or approves the request if that decides it. With an attempt it starts the action
-- in the same step if the vote approves it; both transitions keep their own guards and audit rows.
-- ARGV
--   1 thread id
--   2 request id
--   3 who
--   4 'approve' or 'reject'
--   5 digest of what the person was shown
--   6 '1' if the person may vote
--   7 audit body (JSON)
--   8 digest of the body
--   9 reason
--  10 numbers of the approver groups that the person votes for, or '' where the policy has no groups
--  11 '1' if the person allows the same again as well
--  12 the approver in whose place the person votes, or ''
--  13 limits of the person's approvals: of each its name, the most in its window, and the window in ms
--  14 numbers of the steps of a plan that the person chooses, or '' for those that it has
--  15 digest of the plan with these steps
--  16 what the person's passkey signed (JSON), or ''
--  17 document of the one-time link that it was signed by
--  18 document of the person's keys
--  19 version of it that the proof was checked with
--  20 its next version and value
--  21 and further as 3 and further of `start`, or nothing
-- Returns
--   {'voted', state, approvals, quorum}    the same vote again returns the state that it led to; then the reply of `start`, if it was
--                                          tried; the same call again returns the same
--   {'settled', state, by}
--   {'already-voted', earlier vote}
--   {'represented', who has voted}         somebody has voted for this person, or in the same place
--   {'too-many'}                           the person has approved as much as the policy allows for now
--   {'not-proven'}                         a passkey has to sign; nothing is recorded
--   {'link-used'}, {'keys-changed'}        the proof counts no more
--   {'expired'}, {'unknown'}, {'not-an-approval'}, {'not-eligible'}, {'own-request'}, {'not-as-shown'}, {'not-delegated'}
--- include request
--- include groups
--- include delegated
--- include frozen
--- include limits
--- script start
local who, decision, shown, eligible, body, digest, reason = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local votes_for, grants, for_whom, chosen, proof = ARGV[10], ARGV[11], ARGV[12], ARGV[14], ARGV[16]

-- Leaves only some steps of a plan. Who approved more, or others, is asked again.
local function choose()
  for name, value in pairs(read_all(K.request)) do
    local person = string.match(name, '^vote:(.*)$')
    if person and value == 'approve' then
      for _, kind in ipairs({ 'vote:', 'at:', 'groups:', 'for:', 'grant:', 'proof:' }) do
        redis.call('HDEL', K.request, kind .. person)
        request[kind .. person] = nil
      end
    end
  end
  set('chosen', chosen, 'digest', ARGV[15])
  audit('chosen', request_id, chosen .. ' ' .. who, body, digest)
end

local function cast()
  if not request.state then return { 'unknown' } end -- guard: vote-unknown
  if request.kind ~= 'approval' then return { 'not-an-approval' } end -- guard: vote-kind
  if request.plan and not request.alone then return { 'not-an-approval' } end -- guard: vote-step
  local earlier = request['vote:' .. who]
  if earlier == decision and (chosen == '' or chosen == request.chosen) then return { 'voted', request.state, request.approvals, request.quorum } end -- guard: vote-repeated
  if request.state ~= 'pending' then -- guard: vote-settled
    return refuse(who, body, digest, unpack(settled()))
  end
  if now >= tonumber(request.expires) then -- guard: vote-expired
    report_due('expire|' .. request_id, now)
    return refuse(who, body, digest, 'expired')
  end
  if eligible ~= '1' then -- guard: vote-eligible
    return refuse(who, body, digest, 'not-eligible')
  end
  if is_barred(who) then -- guard: vote-own
    return refuse(who, body, digest, 'own-request')
  end
  if for_whom ~= '' and request.delegation ~= '1' then -- guard: vote-delegation
    return refuse(who, body, digest, 'not-delegated')
  end
  if for_whom ~= '' and not stands_for(who, for_whom) then -- guard: vote-delegated
    return refuse(who, body, digest, 'not-delegated')
  end
  if for_whom ~= '' and (is_requester(who) or is_barred(for_whom)) then -- guard: vote-for-own
    return refuse(who, body, digest, 'own-request')
  end
  if shown ~= request.digest then -- guard: vote-shown
    return refuse(who, body, digest, 'not-as-shown')
  end
  if earlier == 'reject' then -- guard: vote-changed
    return refuse(who, body, digest, 'already-voted', earlier)
  end
  local beside = request.delegation and vote_beside(who, for_whom)
  if beside then -- guard: vote-represented
    return refuse(who, body, digest, 'represented', beside)
  end

  if decision == 'approve' and request.passkey and proof == '' then return { 'not-proven' } end -- guard: vote-proof
  if proof ~= '' and redis.call('EXISTS', K.document .. ':' .. ARGV[17]) == 0 then -- guard: vote-link
    return refuse(who, body, digest, 'link-used')
  end
  local keys = K.document .. ':' .. ARGV[18]
  if proof ~= '' and string.match(redis.call('GET', keys) or '', '^[^\n]*') ~= ARGV[19] then -- guard: vote-keys
    return refuse(who, body, digest, 'keys-changed')
  end

  local rate = {}
  for name, most, window in string.gmatch(decision == 'approve' and ARGV[13] or '', '(%S+) (%d+) (%d+)') do
    rate[#rate + 1] = { name = name, amount = 1, most = most, window = tonumber(window) }
  end
  local is_many = count_action('vote/' .. request_id, rate)
  if is_many then -- guard: vote-rate
    return refuse(who, body, digest, 'too-many')
  end

  if chosen ~= '' and decision == 'approve' then
    choose()
    request.approvals, earlier = '0', nil
  end
  local approvals, rejections = tonumber(request.approvals), tonumber(request.rejections)
  if earlier == 'approve' then approvals = approvals - 1 end
  if decision == 'approve' then approvals = approvals + 1 else rejections = rejections + 1 end
  set('vote:' .. who, decision, 'at:' .. who, NOW, 'approvals', int(approvals), 'rejections', int(rejections))
  if request.groups then set('groups:' .. who, votes_for) end
  if request.delegation then set('for:' .. who, for_whom) end
  if grants == '1' and decision == 'approve' then set('grant:' .. who, '1') end
  if proof ~= '' then
    set('proof:' .. who, proof)
    redis.call('DEL', K.document .. ':' .. ARGV[17])
    redis.call('ZREM', K.documents, ARGV[17])
    redis.call('SET', keys, ARGV[20])
  end
  local count = int(approvals) .. ' of ' .. request.quorum
  local place = for_whom == '' and '' or ' for ' .. for_whom
  audit('voted', request_id, decision .. ' ' .. who .. ' ' .. count .. place, body, digest)

  if decision == 'reject' and rejections >= tonumber(request.vetoes) then
    settle('rejected', who, reason)
    audit('rejected', request_id, who, '', '')
    return { 'voted', 'rejected', int(approvals), request.quorum }
  end
  local is_complete = decision == 'approve' and approvals >= tonumber(request.quorum)
  if is_complete and request.groups then -- guard: vote-groups
    local people = {}
    for name, value in pairs(request) do
      local person = string.match(name, '^vote:(.*)$')
      if person and person ~= who and value == 'approve' then people[person] = numbers(request['groups:' .. person]) end
    end
    people[who] = numbers(votes_for)
    is_complete = filled_places(people) >= tonumber(request.quorum)
  end
  if is_complete then
    enter('approved', 'by', who, 'decided_at', NOW)
    unlist_for(request.principals)
    forget('expire', 'remind', 'escalate')
    set_to_run(true)
    audit('approved', request_id, count, '', '')
    -- Only the whole quorum allows the same again.
    local granting, granted = {}, 0
    for name, value in pairs(request) do
      local person = string.match(name, '^vote:(.*)$')
      if person and value == 'approve' and request['grant:' .. person] then
        granting[person] = numbers(request['groups:' .. person])
      end
    end
    if grants == '1' then granting[who] = numbers(votes_for) end
    for _ in pairs(granting) do granted = granted + 1 end
    if request.groups then granted = filled_places(granting) end
    if granted >= tonumber(request.quorum) then -- guard: vote-granted
      set('granted', '1')
      audit('granted', request_id, int(granted) .. ' of ' .. request.quorum, '', '')
    end
    return { 'voted', 'approved', int(approvals), request.quorum }
  end
  redraw()
  return { 'voted', 'pending', int(approvals), request.quorum }
end

local reply = cast()
if reply[1] ~= 'voted' or not ARGV[21] then return reply end
if request.state ~= 'approved' and request.attempt ~= ARGV[21] then return reply end -- guard: vote-start-approved
append(reply, start({ ARGV[1], ARGV[2], unpack(ARGV, 21) }))
return reply
