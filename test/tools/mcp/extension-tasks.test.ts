import { expect, onTestFinished, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/agent/json.ts';
import { StoppedError } from '../../../src/agent/util/abort.ts';
import { AuthorizationError } from '../../../src/tools/errors.ts';
import { NAME_FORM } from './fixtures/asking-tools.ts';
import { serveExtensionTasks } from './fixtures/extension-task-server.ts';
import { call, eventually, httpConfig, open } from './support.ts';

const DONE = { status: 'completed', result: { content: [{ type: 'text', text: 'the report' }] } };
const question = (message: string) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: NAME_FORM },
});
const ACCEPT = { action: 'accept', content: { name: 'Remi', guests: 3 } };

async function start() {
  const tasks = await serveExtensionTasks();
  onTestFinished(() => tasks.stop());
  const { server } = await open(httpConfig(tasks.url), { guardedFetch: fetch });
  /** Makes a call, or continues one, until it pauses. */
  const pause = async (resumed?: JsonObject): Promise<JsonValue> => {
    let metadata: JsonObject | undefined;
    const interrupt = (given?: object): never => {
      metadata = JSON.parse(JSON.stringify(given));
      throw new Error('paused');
    };
    await expect(
      call(server, 'research', { topic: 'rain' }, { interrupt, ...(resumed && { resumed }) }),
    ).rejects.toThrow('paused');
    return metadata?.mcp ?? null;
  };
  const resume = (paused: JsonValue, end: JsonValue = { action: 'accept' }): JsonObject => ({
    mcp: { pause: paused, end },
  });
  return { tasks, server, pause, resume };
}

test('a call that its server runs as a task pauses with the id of the task; any other is answered at once', async () => {
  const { tasks, server, pause } = await start();
  expect(server.describe()).toMatchObject({ protocol: '2026-07-28', tools: ['research', 'quick'] });
  expect(await call(server, 'quick')).toBe('at once');
  expect(await pause()).toMatchObject({ kind: 'task', server: 'tried', taskId: 'task-1' });
  expect(tasks.notes).toEqual(['call']);
});

test('a task is followed with its id as header, shown as progress, and gives the result of the call', async () => {
  const { tasks, server, pause, resume } = await start();
  const resumed = resume(await pause());
  const reports: string[] = [];
  const running = call(server, 'research', {}, { resumed, progress: (message) => reports.push(message) });
  await eventually(() => expect(reports).toContain('Reading sources'));
  tasks.set('task-1', DONE);
  expect(await running).toBe('the report');
  expect(new Set(tasks.names)).toEqual(new Set(['task-1']));
  expect(tasks.notes.filter((note) => note === 'call')).toHaveLength(1);
});

test('a task is followed although its tool has changed meanwhile', async () => {
  const { tasks, server, pause, resume } = await start();
  const resumed = resume(await pause());
  tasks.refine();
  await server.relist();
  tasks.set('task-1', DONE);
  expect(await call(server, 'research', {}, { resumed })).toBe('the report');
});

test('the questions of a task pause the call, and the answers go to the task once', async () => {
  const { tasks, server, pause, resume } = await start();
  const first = await pause();
  tasks.set('task-1', {
    status: 'input_required',
    inputRequests: { who: question('Who asks?'), also: question('Who else?') },
  });
  const asked = await pause(resume(first));
  expect(asked).toMatchObject({
    kind: 'elicitation',
    question: { message: 'Who asks?' },
    call: { protocol: 'task', taskId: 'task-1' },
  });
  const second = await pause(resume(asked, ACCEPT));
  expect(second).toMatchObject({ kind: 'elicitation', question: { message: 'Who else?' } });
  expect(tasks.notes.filter((note) => note.startsWith('update'))).toEqual([]);
  const answered = await pause(resume(second, { action: 'decline' }));
  expect(answered).toMatchObject({ kind: 'task', taskId: 'task-1', answered: ['who', 'also'] });
  const updates = ['update task-1 who accept Remi 3', 'update task-1 also decline'];
  expect(tasks.notes.filter((note) => note.startsWith('update'))).toEqual(updates);
  // A task that shows an answered question for a while is waited for.
  tasks.set('task-1', { status: 'input_required', inputRequests: { who: question('Who asks?') } });
  const seen = tasks.notes.length;
  const running = call(server, 'research', {}, { resumed: resume(answered) });
  await eventually(() => expect(tasks.notes.length).toBeGreaterThan(seen + 1));
  tasks.set('task-1', DONE);
  expect(await running).toMatch(/declined to answer the server[\s\S]*the report/);
  expect(tasks.notes.filter((note) => note === 'call')).toHaveLength(1);
});

test('a form for a secret is declined without asking anybody, and the task goes on', async () => {
  const { tasks, pause, resume } = await start();
  const first = await pause();
  const secret = { type: 'object', properties: { apiKey: { type: 'string' } } };
  tasks.set('task-1', {
    status: 'input_required',
    inputRequests: {
      key: {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Key?', requestedSchema: secret },
      },
    },
  });
  const paused = await pause(resume(first));
  expect(paused).toMatchObject({ kind: 'task', answered: ['key'] });
  expect(isJsonObject(paused) && JSON.stringify(paused.notes)).toContain('secrets are never asked for');
  expect(tasks.notes).toContain('update task-1 key decline');
});

test('a Stop cancels the task, and the outcome is unknown', async () => {
  const { tasks, server, pause, resume } = await start();
  const resumed = resume(await pause());
  const stop = new AbortController();
  const running = call(server, 'research', {}, { resumed, signal: stop.signal });
  await eventually(() => expect(tasks.notes).toContain('get task-1'));
  stop.abort(new StoppedError());
  expect(isNotDone(await running.catch((error: unknown) => error))).toBe(false);
  expect(tasks.notes).toContain('cancel task-1');
});

test.each([
  ['failed', { status: 'failed', error: { code: -32603, message: 'out of paper' } }, 'out of paper'],
  ['cancelled', { status: 'cancelled', statusMessage: 'no time' }, 'no time'],
  ['of a status that is not known', { status: 'asleep' }, 'asleep'],
])('after a task that is %s the outcome is unknown', async (_what, task, reason) => {
  const { tasks, server, pause, resume } = await start();
  const resumed = resume(await pause());
  tasks.set('task-1', task);
  const error = await call(server, 'research', {}, { resumed }).catch((thrown: unknown) => thrown);
  expect(isNotDone(error)).toBe(false);
  expect(String(error)).toContain(reason);
});

test('a task that ends with an error of its tool has an unknown outcome, and the error says why', async () => {
  const { tasks, server, pause, resume } = await start();
  const resumed = resume(await pause());
  tasks.set('task-1', {
    status: 'completed',
    result: { content: [{ type: 'text', text: 'no such topic' }], isError: true },
  });
  const error = await call(server, 'research', {}, { resumed }).catch((thrown: unknown) => thrown);
  expect(isNotDone(error)).toBe(false);
  expect(String(error)).toContain('no such topic');
});

test('a task that cannot be followed in the name of its requester has an unknown outcome; a call that was not made has failed', async () => {
  const { tasks, pause, resume } = await start();
  const resumed = resume(await pause());
  const refuse = async (): Promise<never> => {
    throw new AuthorizationError('the account is gone');
  };
  const identityOf = () => ({ token: refuse, renew: refuse, widen: refuse });
  const { server } = await open(httpConfig(tasks.url), { guardedFetch: fetch, identityOf });
  const errorOf = (given: object) => call(server, 'research', {}, given).catch((error: unknown) => error);
  const followed = await errorOf({ resumed });
  expect(String(followed)).toContain('the account is gone');
  expect(isNotDone(followed)).toBe(false);
  expect(isNotDone(await errorOf({}))).toBe(true);
});
