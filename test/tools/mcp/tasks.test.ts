import { expect, onTestFinished, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import type { JsonObject } from '../../../src/agent/json.ts';
import { StoppedError } from '../../../src/agent/util/abort.ts';
import { taskOf } from '../../../src/tools/mcp/server-pause.ts';
import { serveTasks } from './fixtures/task-server.ts';
import { call, eventually, httpConfig, open } from './support.ts';

async function start() {
  const tasks = await serveTasks();
  onTestFinished(() => tasks.stop());
  const { server } = await open(httpConfig(tasks.url), { guardedFetch: fetch });
  let metadata: JsonObject | undefined;
  const interrupt = (given?: object): never => {
    metadata = JSON.parse(JSON.stringify(given));
    throw new Error('paused');
  };
  await expect(call(server, 'research', { topic: 'rain' }, { interrupt })).rejects.toThrow('paused');
  const pause = taskOf({ metadata });
  if (pause === undefined) throw new Error('no task');
  const resumed = JSON.parse(JSON.stringify({ mcp: { pause, end: { action: 'accept' } } }));
  return { tasks, server, pause, resumed };
}

test('a tool that needs a task is started, and its id is given out before the task is asked about', async () => {
  const { tasks, server, pause } = await start();
  expect(server.describe().tools).toEqual(['research']);
  expect(pause).toMatchObject({ kind: 'task', server: 'tried', taskId: 'task-1' });
  expect(tasks.notes).toEqual(['call']);
});

test('a task is followed by its id, shown as progress, and gives the result of the call', async () => {
  const { tasks, server, resumed } = await start();
  const reports: string[] = [];
  const running = call(server, 'research', {}, { resumed, progress: (message) => reports.push(message) });
  await eventually(() => expect(reports).toContain('Reading sources'));
  tasks.set('task-1', 'completed');
  expect(await running).toBe('report of task-1');
  expect(tasks.notes.filter((note) => note === 'call')).toHaveLength(1);
});

test('a Stop cancels the task; an abort for any other reason leaves it to whoever follows it next', async () => {
  const { tasks, server, resumed } = await start();
  const follow = async (reason: Error) => {
    const stop = new AbortController();
    const seen = tasks.notes.length;
    const running = call(server, 'research', {}, { resumed, signal: stop.signal });
    await eventually(() => expect(tasks.notes.length).toBeGreaterThan(seen));
    stop.abort(reason);
    return running.catch((error: unknown) => error);
  };
  expect(isNotDone(await follow(new Error('another turn has the thread')))).toBe(false);
  expect(tasks.notes).not.toContain('cancel task-1');
  expect(isNotDone(await follow(new StoppedError()))).toBe(false);
  expect(tasks.notes).toContain('cancel task-1');
});

test('after a task that its server has forgotten or cancelled the outcome is unknown', async () => {
  const { tasks, server, resumed } = await start();
  tasks.set('task-1', 'cancelled', 'out of paper');
  const cancelled = await call(server, 'research', {}, { resumed }).catch((error: unknown) => error);
  expect(String(cancelled)).toContain('out of paper');
  expect(isNotDone(cancelled)).toBe(false);
  tasks.forget('task-1');
  const forgotten = await call(server, 'research', {}, { resumed }).catch((error: unknown) => error);
  expect(isNotDone(forgotten)).toBe(false);
});
