import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { UPDATE_WINDOW_MS, UpdateBudget } from '../../../src/bot/slack/update-budget.ts';
import { updateCounterIn } from '../../../src/store/redis/short-lived.ts';
import { connectTestRedis } from '../../support/redis.ts';

/** Opens the budgets of two processes, each with its own connection. */
function openTwo(windowMs = UPDATE_WINDOW_MS) {
  const { url, prefix, close } = connectTestRedis();
  onTestFinished(close);
  const open = () => {
    const client = new Redis(url);
    onTestFinished(() => client.disconnect());
    return new UpdateBudget(updateCounterIn(client, windowMs, prefix), pino({ level: 'silent' }));
  };
  return { one: open(), other: open() };
}

test('two processes share the updates for progress, and a new window has new ones', async () => {
  const { one, other } = openTwo(2_000);
  const taken = await Promise.all(
    Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? one : other).takeProgress()),
  );
  expect(taken.filter(Boolean)).toHaveLength(10);
  await sleep(2_100);
  expect(await other.takeProgress()).toBe(true);
});

test('progress waits while another process has sent many updates', async () => {
  const { one, other } = openTwo();
  for (let sent = 0; sent < 20; sent += 1) one.count();
  await expect.poll(() => other.takeProgress()).toBe(false);
});

test('without Redis there is no progress, and an update is sent all the same', async () => {
  const broken = { add: () => Promise.reject(new Error('no connection')) };
  const updates = new UpdateBudget(broken, pino({ level: 'silent' }));
  updates.count();
  expect(await updates.takeProgress()).toBe(false);
});

test('what shows no decision leaves updates for decisions, and waits while Slack refuses them', async () => {
  const { one, other } = openTwo();
  const taken: boolean[] = [];
  for (let sent = 0; sent < 20; sent += 1) taken.push(await (sent % 2 === 0 ? one : other).takeRoutine());
  expect(taken.filter(Boolean)).toHaveLength(12);
  const { one: fresh } = openTwo();
  expect(await fresh.takeRoutine()).toBe(true);
  fresh.refused(60_000);
  expect(await fresh.takeRoutine()).toBe(false);
  expect(fresh.refusedMs()).toBeGreaterThan(0);
});

test('a clicked message is replaced a few times only, and no other', async () => {
  const { one } = openTwo();
  const message = { channel: 'C1', ts: '1.1' };
  one.clicked(message, async () => 'replaced');
  const ways = Array.from({ length: 5 }, () => one.replacing(message));
  expect(ways.map((way) => way !== undefined)).toEqual([true, true, true, true, false]);
  expect(one.replacing({ channel: 'C1', ts: '2.2' })).toBeUndefined();
});
