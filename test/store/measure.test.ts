import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
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
  withdrawal,
} from './support.ts';

let redis: TestRedis;
let store: Store;
beforeAll(() => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
});
afterAll(() => redis.close());

test('open requests are counted by state, and ended ones are not', async () => {
  const before = await store.measure();
  expect(before).toEqual({
    requests: { pending: 0, approved: 0, started: 0, unknown: 0 },
    quarantinedThreads: 0,
    outbox: { waiting: 0, due: 0, oldestMs: 0, oldestWebhookMs: 0 },
    overdueTimers: 0,
  });
  await ask(store);
  await ask(store);
  await store.vote(await ask(store), approve('U-ann'));
  await askAndStart(store);
  const lost = await askAndLose(store);
  const ended = await askAndStart(store);
  await store.finish(ended, outcome('first'));
  await store.end(await ask(store), withdrawal('U-rita'));
  expect((await store.measure()).requests).toEqual({ pending: 2, approved: 1, started: 1, unknown: 1 });

  await store.resolve(lost, actor('U-ops'), 'ran', '');
  expect((await store.measure()).requests.unknown).toBe(0);
});

test('a quarantined thread is counted until it is released', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(store, threadId);
  const notice = { id: 'n', body: {} };
  await store.release(turn, { mostFailures: 1, delayMs: 1, reason: 'broken', notices: [notice] });
  expect((await store.measure()).quarantinedThreads).toBe(1);
  await store.unquarantine(threadId, {});
  expect((await store.measure()).quarantinedThreads).toBe(0);
});

test('waiting messages and their age are measured by the clock of Redis', async () => {
  const { outbox } = await store.measure();
  const threadId = newThreadId();
  const row = { id: `${threadId}/1`, body: { text: 'hello' } };
  await suspendTurn(store, await beginTurn(store, threadId), { rows: [row] });
  const after = (await store.measure()).outbox;
  expect(after).toMatchObject({ waiting: outbox.waiting + 1, due: outbox.due + 1 });
  await expect.poll(async () => (await store.measure()).outbox.oldestMs).toBeGreaterThan(after.oldestMs);
});
