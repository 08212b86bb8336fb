import { afterAll, beforeAll, expect, test } from 'vitest';
import { threadOf } from '../../src/store/port/keys.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { snapshotOf } from './records-snapshot.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  askAndStart,
  beginTurn,
  MINUTE_MS,
  message,
  newThreadId,
  outcome,
  reject,
  suspendTurn,
  takeTurn,
  withdrawal,
} from './support.ts';

let redis: TestRedis;
/** Keeps nothing once it is settled. */
let store: Store;
/** Keeps what is settled for long. */
let patient: Store;

beforeAll(() => {
  redis = connectTestRedis();
  store = openRedisStore({ ...redis, retention: () => ({ requestMs: 0, threadMs: 0 }) });
  patient = openRedisStore({ ...redis, retention: () => ({ requestMs: MINUTE_MS, threadMs: MINUTE_MS }) });
});

afterAll(() => redis.close());

const threadOfRequest = (id: string) => threadOf(id) ?? '';
const dueTimers = async (threadId: string) => {
  const { timers } = await store.due({ overdueMs: 0, limit: 1000 });
  return timers.filter(({ id }) => id.startsWith(threadId)).map(({ kind }) => kind);
};
const goOn = async (threadId: string) => suspendTurn(store, await takeTurn(store, threadId));

/** The keys and entries that still name something, but for the audit log. */
async function traces(what: string): Promise<string[]> {
  const snapshot = await snapshotOf(redis.client, redis.prefix);
  return Object.entries(snapshot)
    .filter(([key, value]) => key !== 'audit' && `${key} ${JSON.stringify(value)}`.includes(what))
    .map(([key]) => key);
}

const ENDINGS: Readonly<Record<string, () => Promise<string>>> = {
  rejected: async () => {
    const id = await ask(store, { views: [{ id: 'thread', place: {} }] });
    await store.vote(id, reject('U-ann'));
    return id;
  },
  answered: async () => {
    const id = await ask(store, { kind: 'question' });
    await store.answer(id, actor('U-ann'), 'blue');
    return id;
  },
  expired: async () => {
    const id = await ask(store, { policy: { expiresInMs: 0, remindEveryMs: 1 } });
    await store.end(id, { state: 'expired' });
    return id;
  },
  withdrawn: async () => {
    const id = await ask(store, { policy: { escalate: { afterMs: 0, to: ['U-boss'] } } });
    await store.notify(id, 'escalate', { row: { id: newThreadId(), body: {} } });
    await store.end(id, withdrawal('U-rita'));
    return id;
  },
  superseded: async () => {
    const id = await ask(store);
    await store.end(id, { state: 'superseded', reason: '' });
    return id;
  },
  succeeded: async () => {
    const id = await askAndStart(store);
    await store.finish(id, outcome('first'));
    return id;
  },
  resolved: async () => {
    const id = await askAndLose(store);
    await store.resolve(id, actor('U-ops'), 'ran', '');
    return id;
  },
};

test.each(Object.keys(ENDINGS))(
  'a request that is %s leaves when its time is over, and so does its thread',
  async (name) => {
    const id = (await ENDINGS[name]?.()) ?? '';
    const threadId = threadOfRequest(id);
    await goOn(threadId);
    expect(await dueTimers(threadId)).toEqual(['purge', 'retire']);
    expect(await store.purge(id)).toEqual({ outcome: 'purged' });
    expect(await store.load(id)).toEqual({ outcome: 'unknown' });
    expect(await store.retire(threadId)).toEqual({ outcome: 'retired' });
    expect(await traces(threadId)).toEqual([]);
  },
);

test('what is settled stays for as long as it is kept', async () => {
  const id = await ask(patient);
  await patient.vote(id, reject('U-ann'));
  const threadId = threadOfRequest(id);
  await suspendTurn(patient, await takeTurn(patient, threadId));
  expect(await dueTimers(threadId)).toEqual([]);
  expect(await patient.purge(id)).toEqual({ outcome: 'not-due' });
  expect(await patient.retire(threadId)).toEqual({ outcome: 'not-due' });
  expect(await patient.load(id)).toMatchObject({ outcome: 'found' });
});

test('a request that its thread has not read yet stays', async () => {
  const id = await ask(store);
  await store.vote(id, reject('U-ann'));
  expect(await store.purge(id)).toEqual({ outcome: 'not-due' });
  expect((await takeTurn(store, threadOfRequest(id))).settled).toHaveLength(1);
});

test('nothing that waits for anybody ever leaves', async () => {
  const approved = await ask(store);
  await store.vote(approved, approve('U-ann'));
  const open = {
    pending: await ask(store),
    approved,
    started: await askAndStart(store),
    unknown: await askAndLose(store),
  };
  for (const [state, id] of Object.entries(open)) {
    const threadId = threadOfRequest(id);
    expect(await dueTimers(threadId), state).not.toContain('purge');
    expect(await dueTimers(threadId), state).not.toContain('retire');
    expect(await store.purge(id), state).toEqual({ outcome: 'not-settled' });
    expect(await store.retire(threadId), state).toEqual({ outcome: 'not-due' });
    await redis.client.zadd(`{${redis.prefix}}:timers`, 0, `retire|${threadId}`);
    expect(await store.retire(threadId), state).toEqual({ outcome: 'in-use' });
    expect(await store.load(id), state).toMatchObject({ outcome: 'found', request: { state } });
  }
});

test('a thread in which something was said meanwhile stays', async () => {
  const threadId = newThreadId();
  await suspendTurn(store, await beginTurn(store, threadId), { messages: [message('kept')] });
  await store.enqueue(threadId, { id: 'new', body: {} });
  expect(await store.retire(threadId)).toEqual({ outcome: 'not-due' });
  expect((await takeTurn(store, threadId)).messages).toEqual([message('kept')]);
  expect(await store.retire(threadId)).toEqual({ outcome: 'not-due' });
});

test('a thread that begins anew never gives an old token out again', async () => {
  const threadId = newThreadId();
  const old = await beginTurn(store, threadId);
  await suspendTurn(store, old);
  expect(await store.retire(threadId)).toEqual({ outcome: 'retired' });
  const turn = await beginTurn(store, threadId);
  expect(turn.messages).toEqual([]);
  expect(Number(turn.token)).toBeGreaterThan(Number(old.token));
  expect(await store.suspend(old, { messages: [message('late')], read: 1 })).toEqual({ outcome: 'stale' });
});

test('the audit log outlives what it tells of', async () => {
  const id = await ask(store);
  await store.vote(id, reject('U-ann'));
  await goOn(threadOfRequest(id));
  await store.purge(id);
  const events: string[] = [];
  for await (const row of store.exportAudit()) if (row.subject === id) events.push(row.event);
  expect(events).toEqual(['asked', 'voted', 'rejected']);
});

test('retention is read anew for each turn that ends, so that a reloaded manifest holds for what comes after it', async () => {
  let keptMs = MINUTE_MS;
  const changing = openRedisStore({ ...redis, retention: () => ({ requestMs: keptMs, threadMs: keptMs }) });
  const kept = await ask(changing);
  keptMs = 0;
  const fleeting = await ask(changing);
  for (const id of [kept, fleeting]) {
    await changing.end(id, withdrawal('U-rita'));
    await suspendTurn(changing, await takeTurn(changing, threadOfRequest(id)));
  }
  expect(await changing.purge(kept)).toEqual({ outcome: 'not-due' });
  expect(await changing.purge(fleeting)).toEqual({ outcome: 'purged' });
  expect(await changing.purge(kept, { early: true })).toEqual({ outcome: 'purged' });
});
