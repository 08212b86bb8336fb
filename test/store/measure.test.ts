import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { measureAll } from '../../src/observe/measure-record.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run } from '../commands/support.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  askAndStart,
  beginTurn,
  newThreadId,
  outcome,
  suspendTurn,
} from './support.ts';

let redis: TestRedis;
let store: Store;
beforeAll(() => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
});
afterAll(() => redis.close());

test('open requests are counted by state, and ended ones are not', async () => {
  const before = await measureAll(store);
  expect(before).toEqual({
    requests: { pending: 0, approved: 0, started: 0, unknown: 0 },
    quarantinedThreads: 0,
    outbox: { waiting: 0, due: 0, oldestMs: 0 },
    overdueTimers: 0,
  });
  await ask(store);
  await ask(store);
  await store.vote(await ask(store), approve('U-ann'));
  await askAndStart(store);
  const lost = await askAndLose(store);
  const ended = await askAndStart(store);
  await store.finish(ended, outcome('first'));
  await store.withdraw(await ask(store), { who: 'U-rita', evidence: {} }, '');
  expect((await measureAll(store)).requests).toEqual({ pending: 2, approved: 1, started: 1, unknown: 1 });

  await store.resolve(lost, actor('U-ops'), 'ran', '');
  expect((await measureAll(store)).requests.unknown).toBe(0);
});

test('a quarantined thread is counted until it is released', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(store, threadId);
  const notice = { id: 'n', body: {} };
  await store.failTurn(turn, { mostFailures: 1, delayMs: 1, reason: 'broken', notices: [notice] });
  expect((await measureAll(store)).quarantinedThreads).toBe(1);
  await store.unquarantine(threadId, {});
  expect((await measureAll(store)).quarantinedThreads).toBe(0);
});

test('waiting messages and their age are measured by the clock of Redis', async () => {
  const { outbox } = await measureAll(store);
  const threadId = newThreadId();
  const row = { id: `${threadId}/1`, body: { text: 'hello' } };
  await suspendTurn(store, await beginTurn(store, threadId), { rows: [row] });
  const after = (await measureAll(store)).outbox;
  expect(after).toMatchObject({ waiting: outbox.waiting + 1, due: outbox.due + 1 });
  await expect.poll(async () => (await measureAll(store)).outbox.oldestMs).toBeGreaterThan(after.oldestMs);
});

test('what a version without metrics has left is counted by the command, and again gives the same', async () => {
  const old = connectTestRedis();
  onTestFinished(() => old.close());
  const record = openRedisStore(old);
  await ask(record);
  await askAndStart(record);
  const lost = await askAndLose(record);
  const ended = await askAndStart(record);
  await record.finish(ended, outcome('first'));
  const turn = await beginTurn(record, newThreadId());
  await record.failTurn(turn, { mostFailures: 1, delayMs: 1, reason: 'broken', notices: [] });
  const before = await measureAll(record);
  expect(before).toMatchObject({ requests: { pending: 1, started: 1, unknown: 1 }, quarantinedThreads: 1 });
  const indexes = await old.client.keys(`${old.prefix}{*}:states`);
  await old.client.del(...indexes, ...(await old.client.keys(`${old.prefix}{*}:quarantined`)));
  expect((await measureAll(record)).requests.pending).toBe(0);
  for (let time = 0; time < 2; time += 1) {
    const { code, out } = await run(['recount'], { REDIS_URL: old.url }, old.prefix);
    expect({ code, out }).toEqual({ code: 0, out: 'counted (threads: 5, requests: 4)\n' });
    const { requests, quarantinedThreads } = await measureAll(record);
    expect({ requests, quarantinedThreads }).toEqual({ requests: before.requests, quarantinedThreads: 1 });
  }
  await record.resolve(lost, actor('U-ops'), 'ran', '');
  expect((await measureAll(record)).requests.unknown).toBe(0);
});
