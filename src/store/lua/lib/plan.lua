-- A plan is a request whose approval covers others, its steps, in an order. It has `steps` (of each its interrupt, and its digest or
-- 'alone'), `step:<number>` with how far each is, and `chosen` with the numbers that were approved, if not all were. A step has the id of
-- its `plan`, its number as `step`, and `alone` if it needs an approval of its own.
local IS_OPEN = { pending = true, approved = true, started = true, unknown = true }
local IS_DONE = { succeeded = true, ran = true, skipped = true }

-- Ends a step without a run.
local function end_step(state, by, payload, body, digest)
  settle(state, by, payload)
  audit(state, request_id, 'plan ' .. request.step, body, digest)
  return { 'settled', state, by }
end

-- The number of the steps that were approved.
local function is_chosen(plan)
  if not plan.chosen then return true end
  for _, number in ipairs(words(plan.chosen)) do
    if number == request.step then return true end
  end
  return false
end

-- Checks before its first start that a step is the next one of a plan that holds, and gives it the approval of the plan. Returns the
-- reply if it does not start.
local function follow_plan(body, digest)
  local plan, number = read_all(plan_key()), tonumber(request.step)
  local steps, held, is_next = words(plan.steps), not plan.state, true
  for i = 1, #steps do
    local how = plan['step:' .. i] or 'pending'
    if i ~= number and not IS_OPEN[how] and not IS_DONE[how] then held = true end -- guard: plan-held
    if i < number and not IS_DONE[how] then is_next = false end -- guard: plan-next
  end
  local is_plan_open = plan.state == 'pending' or plan.state == 'approved'
  if plan.state and not is_plan_open and plan.state ~= 'superseded' then -- guard: plan-ended
    return end_step(plan.state, plan.by or '', plan.payload or '', body, digest)
  end
  if held or not is_plan_open then return end_step('superseded', '', 'held', body, digest) end
  -- What it waits for makes the plan due again.
  redis.call('ZREM', K.timers, 'run|' .. request.plan)
  if plan.state == 'pending' or not is_next then -- guard: plan-approved
    set_to_run(false)
    return { 'not-next' }
  end
  if request.alone then return nil end
  if not is_chosen(plan) then return end_step('rejected', plan.by, 'not-chosen', body, digest) end -- guard: plan-chosen
  if steps[number] ~= interrupt_of(request_id) .. ':' .. request.digest then -- guard: plan-digest
    return end_step('superseded', '', 'changed', body, digest)
  end
  if request.state == 'approved' then return nil end
  for name, value in pairs(plan) do
    local kind = string.match(name, '^(%a+):')
    if kind == 'vote' or kind == 'at' or kind == 'groups' or kind == 'for' then set(name, value) end
  end
  -- A plan may have been escalated.
  set('approvals', plan.approvals or '0', 'rejections', plan.rejections or '0', 'principals', plan.principals)
  enter('approved', 'by', plan.by, 'decided_at', plan.decided_at)
  set_to_run(true)
  audit('approved', request_id, 'plan ' .. request.step, '', '')
  return nil
end
