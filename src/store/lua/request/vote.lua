-- Records one person's vote on an approval, and settles or approves the request if that decides it. With an attempt it starts the action
-- in the same step if the vote approves it; both transitions keep their own guards and audit rows.
-- ARGV
--   1 thread id
--   2 request id
--   3 named values: who; decision, 'approve' or 'reject'; shown, the digest of what the person was shown; eligible, '1' if the person may
--     vote; body and digest of the audit row; reason; votes_for, the numbers of the approver groups that the person votes for, or '' where
--     the policy has no groups; for_whom, the approver in whose place the person votes, or ''; rates, the limits of the person's approvals,
--     of each its name, the most in its window, and the window in ms
--     chosen, the numbers of the steps of a plan that the person chooses, and as_chosen, the digest of the plan with these; '' for those
--     that it has
--     grant, where the person allows the same again: its id; uses; for_ms, how long it holds; text, what it is for (JSON); body and digest
--     of its audit row
--     proof, where a passkey has signed: text, what it signed (JSON); link, the document of the one-time link; keys, the document of the
--     person's keys; seen, the version of it that the proof was checked with; next, its next version and value
--   4 as 3 of `start`, or nothing
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
--- include grant
--- script start
local a = cmsgpack.unpack(ARGV[3])
local who, decision, body, digest, for_whom, chosen, proof = a.who, a.decision, a.body, a.digest, a.for_whom, a.chosen, a.proof

-- Leaves only some steps of a plan. Who approved more, or others, is asked again.
local function choose()
  for name, value in pairs(read_all(K.ask)) do
    local person = string.match(name, '^vote:(.*)$')
    if person and value == 'approve' then
      for _, kind in ipairs({ 'vote:', 'at:', 'groups:', 'for:', 'grant:', 'proof:', 'reason:' }) do
        redis.call('HDEL', K.ask, kind .. person)
        request[kind .. person] = nil
      end
    end
  end
  request.chosen = chosen
  set('chosen', chosen, 'digest', a.as_chosen)
  audit('chosen', request_id, chosen .. ' ' .. who, body, digest)
end

local function cast()
  if not request.state then return { 'unknown' } end -- guard: vote-unknown
  if request.kind ~= 'approval' then return { 'not-an-approval' } end -- guard: vote-kind
  if request.is_covered then return { 'not-an-approval' } end -- guard: vote-step
  local earlier = request['vote:' .. who]
  if earlier == decision and (chosen == '' or chosen == request.chosen) then return { 'voted', request.state, request.approvals, request.quorum } end -- guard: vote-repeated
  if request.state ~= 'pending' then -- guard: vote-settled
    return refuse(who, body, digest, unpack(settled()))
  end
  if now >= tonumber(request.expires) then -- guard: vote-expired
    report_due('expire|' .. request_id, now)
    return refuse(who, body, digest, 'expired')
  end
  if a.eligible ~= '1' then -- guard: vote-eligible
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
  if a.shown ~= request.digest then -- guard: vote-shown
    return refuse(who, body, digest, 'not-as-shown')
  end
  if earlier == 'reject' then -- guard: vote-changed
    return refuse(who, body, digest, 'already-voted', earlier)
  end
  local beside = request.delegation and vote_beside(who, for_whom)
  if beside then -- guard: vote-represented
    return refuse(who, body, digest, 'represented', beside)
  end

  if decision == 'approve' and request.passkey and not proof then return { 'not-proven' } end -- guard: vote-proof
  if proof and redis.call('EXISTS', K.document .. ':' .. proof.link) == 0 then -- guard: vote-link
    return refuse(who, body, digest, 'link-used')
  end
  local keys = proof and K.document .. ':' .. proof.keys
  if proof and string.match(redis.call('GET', keys) or '', '^[^\n]*') ~= proof.seen then -- guard: vote-keys
    return refuse(who, body, digest, 'keys-changed')
  end

  local rate = {}
  for name, most, window in string.gmatch(decision == 'approve' and a.rates or '', '(%S+) (%d+) (%d+)') do
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
  if a.reason ~= '' or request['reason:' .. who] then set('reason:' .. who, a.reason) end
  if request.groups then set('groups:' .. who, a.votes_for) end
  if request.delegation then set('for:' .. who, for_whom) end
  if a.grant and decision == 'approve' then set('grant:' .. who, '1') end
  if proof then
    set('proof:' .. who, proof.text)
    redis.call('DEL', K.document .. ':' .. proof.link)
    redis.call('ZREM', K.documents, proof.link)
    redis.call('SET', keys, proof.next)
  end
  local count = int(approvals) .. ' of ' .. request.quorum
  local place = for_whom == '' and '' or ' for ' .. for_whom
  audit('voted', request_id, decision .. ' ' .. who .. ' ' .. count .. place, body, digest)

  if decision == 'reject' and rejections >= tonumber(request.vetoes) then
    settle('rejected', who, a.reason)
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
    people[who] = numbers(a.votes_for)
    is_complete = filled_places(people) >= tonumber(request.quorum)
  end
  if is_complete then
    enter('approved', { by = who, decided_at = NOW })
    unlist_for(request.principals)
    forget('expire', 'remind', 'escalate')
    -- A plan is no Run itself, and a step of one waits for its turn.
    set_to_run(not request.plan and not request.runs)
    plan_follows()
    audit('approved', request_id, count, '', '')
    -- Only the whole quorum allows the same again.
    local granting, granted, proofs = {}, 0, {}
    for name, value in pairs(request) do
      local person = string.match(name, '^vote:(.*)$')
      if person and value == 'approve' and request['grant:' .. person] then
        granting[person] = numbers(request['groups:' .. person])
        proofs[person] = request['proof:' .. person] or ''
      end
    end
    if a.grant then granting[who], proofs[who] = numbers(a.votes_for), proof and proof.text or '' end
    for _ in pairs(granting) do granted = granted + 1 end
    if request.groups then granted = filled_places(granting) end
    if a.grant and granted >= tonumber(request.quorum) then -- guard: vote-granted
      set('granted', '1')
      audit('granted', request_id, int(granted) .. ' of ' .. request.quorum, '', '')
      open_grant(a.grant, proofs)
    end
    return { 'voted', 'approved', int(approvals), request.quorum }
  end
  redraw()
  return { 'voted', 'pending', int(approvals), request.quorum }
end

local reply = cast()
follow_up()
if reply[1] ~= 'voted' or not ARGV[4] then return reply end
if request.state ~= 'approved' and request.attempt ~= cmsgpack.unpack(ARGV[4]).attempt then return reply end -- guard: vote-start-approved
append(reply, start({ ARGV[1], ARGV[2], ARGV[4] }))
return reply
