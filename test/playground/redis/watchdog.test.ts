import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { privateEnv, setting } from './private-server.ts';

const holdRedis = fileURLToPath(new URL('./hold-redis.ts', import.meta.url));
const patience = { interval: 50 };

function startHolder(ending: 'wait' | 'return' | 'throw'): ChildProcess {
  const holder = spawn(process.execPath, ['--import', 'tsx', holdRedis, ending], {
    // Its own process group, as a terminal gives it, so that Ctrl-C can be sent to the whole group.
    detached: true,
    env: privateEnv(),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => {
    holder.kill('SIGKILL');
  });
  return holder;
}

async function urlFrom(holder: ChildProcess): Promise<string> {
  if (holder.stdout === null) throw new Error('the holder has no output');
  const [url] = await once(createInterface(holder.stdout), 'line');
  return String(url);
}

async function serverAt(url: string): Promise<{ processId: number; folder: string }> {
  const information = await askRedis(url, (client) => client.info('server'));
  const processId = Number(/process_id:(\d+)/.exec(information)?.[1]);
  return { processId, folder: (await setting(url, 'dir')) ?? '' };
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

async function expectNothingLeft(server: { processId: number; folder: string }): Promise<void> {
  await expect.poll(() => isAlive(server.processId), patience).toBe(false);
  await expect.poll(() => existsSync(server.folder), patience).toBe(false);
}

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
  test(`a parent ended by ${signal} leaves no server and no folder`, async () => {
    const holder = startHolder('wait');
    const server = await serverAt(await urlFrom(holder));
    expect(isAlive(server.processId)).toBe(true);
    holder.kill(signal);
    await expectNothingLeft(server);
  });
}

test('Ctrl-C in the terminal leaves no server and no folder', async () => {
  const holder = startHolder('wait');
  const server = await serverAt(await urlFrom(holder));
  if (holder.pid === undefined) throw new Error('the holder did not start');
  process.kill(-holder.pid, 'SIGINT');
  await expectNothingLeft(server);
});

test('a process that has nothing left to do ends, and its server with it', async () => {
  const holder = startHolder('return');
  const exited = once(holder, 'exit');
  const url = await urlFrom(holder);
  expect(await exited).toEqual([0, null]);
  await expect
    .poll(() => askRedis(url, (client) => client.ping()).catch(() => 'gone'), patience)
    .toBe('gone');
});

test('a process that ends on an uncaught exception takes its server with it', async () => {
  const holder = startHolder('throw');
  const exited = once(holder, 'exit');
  const url = await urlFrom(holder);
  expect(await exited).toEqual([1, null]);
  await expect
    .poll(() => askRedis(url, (client) => client.ping()).catch(() => 'gone'), patience)
    .toBe('gone');
});

test('ending one process leaves the server of another alone', async () => {
  const first = startHolder('wait');
  const second = startHolder('wait');
  const [firstUrl, secondUrl] = await Promise.all([urlFrom(first), urlFrom(second)]);
  const ended = await serverAt(firstUrl);
  first.kill('SIGKILL');
  await expectNothingLeft(ended);
  expect(isAlive((await serverAt(secondUrl)).processId)).toBe(true);
});
