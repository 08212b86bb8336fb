-- A plan is one Ask about several Runs that follow each other: its `runs`, and `chosen` with the numbers of those that were approved, if not
-- all were. A Run has the id of its `plan` and its `number`. It waits for its turn; one that is `alone` waits for an Ask of its own too.
local IS_OPEN = { pending = true, approved = true, started = true, unknown = true }

-- Whether a Run lets the next one of its plan go on: it ran, or nobody chose it.
local function is_done(run)
  local payload = run.payload or ''
  return run.state == 'succeeded' or (run.state == 'resolved' and string.sub(payload, 1, 4) == 'ran\n')
    or (run.is_covered and run.state == 'rejected' and payload == 'not-chosen')
end

local function is_chosen(plan, number)
  if not plan.chosen then return true end
  for _, each in ipairs(words(plan.chosen)) do
    if each == number then return true end
  end
  return false
end

-- Ends the Run of a step without a start.
local function end_step(state, by, payload)
  settle(state, by, payload)
  audit(state, request_id, 'plan ' .. request.number, '', '')
end

-- Makes the Run of a step ready.
local function let_run(plan)
  if request.is_covered then
    enter('approved', { by = plan.by })
    audit('approved', request_id, 'plan ' .. request.number, '', '')
  end
  request.called = 'ready'
  set_run('state', 'ready')
  set_to_run(true)
end

-- Moves a plan as far as its Runs allow: makes the next one ready, ends those that nobody chose, and ends the plan with its last one. If
-- the plan has ended, or a Run has ended that neither ran nor was left out, what has not started ends too.
move_plan = function()
  if not request.state then return end
  local plan, is_busy, next_id, waiting = request, false, nil, {}
  local is_open = plan.state == 'pending' or plan.state == 'approved'
  local is_held = false
  if not is_open then is_held = true end -- guard: plan-ended
  for _, interrupt in ipairs(words(plan.runs)) do
    about(thread_id .. '~' .. interrupt, function()
      if is_done(request) then return end
      if not IS_OPEN[request.state] then is_held = true end -- guard: plan-held
      local waits = request.state == 'pending' or request.state == 'approved'
      if tonumber(request.attempts) > 0 then waits = false end -- guard: plan-tried
      if waits then waiting[#waiting + 1] = request_id elseif IS_OPEN[request.state] then is_busy = true end
      next_id = next_id or request_id
    end)
  end
  if is_held then
    local state, by, payload = 'superseded', '', 'held'
    if not is_open and plan.state ~= 'superseded' then state, by, payload = plan.state, plan.by or '', plan.payload or '' end
    for _, id in ipairs(waiting) do
      about(id, function() end_step(state, by, payload) end)
    end
    if is_busy then return end -- guard: plan-busy
    if is_open then
      settle('superseded', '', 'held')
      audit('superseded', request_id, 'held', '', '')
    end
    return
  end
  if plan.state ~= 'approved' then return end -- guard: plan-approved
  if not next_id then
    settle('succeeded', plan.by, '')
    audit('succeeded', request_id, '', '', '')
    return
  end
  about(next_id, function()
    if request.called ~= 'waiting' then return end -- guard: plan-waiting
    local is_left = request.is_covered and not is_chosen(plan, request.number)
    if is_left then return end_step('rejected', plan.by, 'not-chosen') end -- guard: plan-chosen
    if not request.is_covered and request.state ~= 'approved' then return end -- guard: plan-alone
    let_run(plan)
  end)
end
