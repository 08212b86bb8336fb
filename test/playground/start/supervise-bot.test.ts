import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type SupervisorOptions, superviseBot } from '../../../playground/bot/supervise-bot.ts';
import { temporaryFolder } from '../install/stand-ins.ts';
import { expectGone, isAlive } from './processes.ts';

const entry = fileURLToPath(new URL('./stand-in-bot.mjs', import.meta.url));
const holdBot = fileURLToPath(new URL('./hold-bot.ts', import.meta.url));

function supervise(env: NodeJS.ProcessEnv = {}, options: Partial<SupervisorOptions> = {}) {
  let written = '';
  const bot = superviseBot({
    entry,
    env: { ...process.env, ...env },
    log: (text) => {
      written += text;
    },
    restartAfterMs: 100,
    backOffMs: 50,
    ...options,
  });
  onTestFinished(() => bot.stop());
  const states: string[] = [];
  bot.onChange(() => states.push(bot.state().state));
  const pid = () => bot.state().pid ?? Number.NaN;
  /** The process that the stand-in started last. */
  const helper = () => Number([...written.matchAll(/"helper":(\d+)/g)].at(-1)?.[1]);
  const until = (state: string) => expect.poll(() => bot.state().state, { interval: 10 }).toBe(state);
  return { bot, states, pid, helper, until, written: () => written };
}

test('a bot that reports its connection is connected, and its output is passed on', async () => {
  const { bot, pid, written } = supervise();
  expect(bot.state()).toMatchObject({ state: 'starting', kills: 0 });
  await bot.connected();
  expect(bot.state()).toEqual({ state: 'connected', kills: 0, pid: pid() });
  expect(isAlive(pid())).toBe(true);
  expect(written()).toContain('a line that is no JSON');
});

test('a killed bot is down with its whole group, and is started again', async () => {
  const { bot, states, pid, helper, until } = supervise();
  await bot.connected();
  const before = { pid: pid(), helper: helper() };
  expect(isAlive(before.helper)).toBe(true);
  await bot.kill();
  expect(bot.state()).toEqual({ state: 'down', kills: 1, restartsAt: expect.any(Number) });
  expect(isAlive(before.pid)).toBe(false);
  await expectGone(before.helper);
  await until('connected');
  expect(bot.state()).toEqual({ state: 'connected', kills: 1, pid: pid() });
  expect(pid()).not.toBe(before.pid);
  expect(states).toEqual(['connected', 'down', 'starting', 'connected']);
});

test('a second kill while it is down kills nothing and does not count', async () => {
  const { bot, until } = supervise();
  await bot.connected();
  await Promise.all([bot.kill(), bot.kill()]);
  await until('connected');
  expect(bot.state().kills).toBe(1);
});

test('a bot that ends before it is connected has failed, with its last lines', async () => {
  const broken = join(temporaryFolder(), 'broken');
  writeFileSync(broken, '');
  const { bot, until } = supervise({ BROKEN_WHILE: broken }, { backOffMs: 60_000 });
  await expect(bot.connected()).rejects.toThrow(
    'The bot exited before it was connected. Its last output:\n  countersign cannot start:\n    there is no manifest.yml',
  );
  await until('failed');
  expect(bot.state()).toEqual({
    state: 'failed',
    kills: 0,
    lastOutput: '  countersign cannot start:\n    there is no manifest.yml',
  });
});

test('a bot that failed is started again, and connects once the problem is fixed', async () => {
  const broken = join(temporaryFolder(), 'broken');
  writeFileSync(broken, '');
  const { bot, states, until } = supervise({ BROKEN_WHILE: broken });
  await expect.poll(() => states.filter((state) => state === 'failed').length).toBe(2);
  rmSync(broken);
  await until('connected');
  expect(bot.state().lastOutput).toBeUndefined();
});

test('a bot that ends by itself is started again, and that is no kill', async () => {
  const { bot, states } = supervise({ ENDS_AFTER_MS: '50' });
  await expect.poll(() => states.slice(0, 4)).toEqual(['connected', 'down', 'starting', 'connected']);
  expect(bot.state().kills).toBe(0);
});

test('a stopped bot is gone with its group, and is not started again', async () => {
  const { bot, states, pid, helper } = supervise();
  await bot.connected();
  const before = { pid: pid(), helper: helper() };
  await bot.stop();
  expect(isAlive(before.pid)).toBe(false);
  await expectGone(before.helper);
  expect(states).toEqual(['connected', 'down']);
});

test('a stop while the bot is down leaves it down', async () => {
  const { bot, states } = supervise({}, { restartAfterMs: 1 });
  await bot.connected();
  const killed = bot.kill();
  await bot.stop();
  await killed;
  expect(states).toEqual(['connected', 'down']);
});

test('a bot that ignores SIGTERM is killed', async () => {
  const { bot, pid } = supervise({ DEAF: '1' }, { stopGraceMs: 100 });
  await bot.connected();
  const before = pid();
  await bot.stop();
  expect(isAlive(before)).toBe(false);
});

test('a supervisor ended by SIGKILL leaves neither the bot nor anything of its group', async () => {
  const holder = spawn(process.execPath, ['--import', 'tsx', holdBot], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [line] = await once(createInterface(holder.stdout), 'line');
  const processes = String(line).split(' ').map(Number);
  expect(processes.map(isAlive)).toEqual([true, true]);
  holder.kill('SIGKILL');
  for (const processId of processes) await expectGone(processId);
});
