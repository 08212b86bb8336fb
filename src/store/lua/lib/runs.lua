-- The key of a Run of this thread, of which a script knows only the id.
local function run_key(id)
  return string.sub(K.thread, 1, -1 - #('thread:' .. thread_id)) .. 'run:' .. id
end

-- Ends the journal of a turn, whose Runs the thread names in `runs`. They stay for as long as the thread; the results of their calls are in
-- the messages now.
local function end_runs(runs, keep)
  for _, id in ipairs(words(runs)) do
    redis.call('HDEL', run_key(id), 'part', 'attempt', 'attempts', 'first_start')
    redis.call('PEXPIRE', run_key(id), keep)
    redis.call('ZREM', K.states, id)
  end
  redis.call('HDEL', K.thread, 'runs')
end
