import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Work } from '../../../src/store/port/engine.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { wakingStore } from '../../../src/store/queue/waking-store.ts';
import { shardOf, threadOf } from '../../../src/store/record/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  askAndRetry,
  askAndStart,
  attempt,
  beginTurn,
  found,
  MINUTE_MS,
  newRequest,
  newThreadId,
  outcome,
  reject,
  suspendTurn,
} from '../support.ts';

interface Woken {
  readonly work: Work;
  readonly delayMs: number;
}

const PLACE = { id: 'thread', place: { channel: 'C1' } };

let redis: TestRedis;
let quiet: Store;
let store: Store;
let woken: Woken[];
let marked: number[];

beforeAll(() => {
  redis = connectTestRedis();
  quiet = openRedisStore({ client: redis.client, prefix: redis.prefix });
  store = wakingStore(quiet, {
    wake: (work, delayMs = 0) => woken.push({ work, delayMs }),
    markActive: (shard) => marked.push(shard),
  });
});
beforeEach(() => {
  woken = [];
  marked = [];
});
afterAll(() => redis.close());

const row = () => ({ id: randomUUID(), body: { text: 'look' } });
const thread = (requestId: string): Woken => ({
  work: { kind: 'thread', threadId: threadOf(requestId) ?? '' },
  delayMs: 0,
});
const outbox = (requestId: string): Woken => outboxOf(threadOf(requestId) ?? '');
const outboxOf = (threadId: string, delayMs = 0): Woken => ({
  work: { kind: 'outbox', shard: shardOf(threadId) },
  delayMs,
});
const look = (requestId: string): Woken => ({
  work: { kind: 'timer', timer: 'recover', id: requestId },
  delayMs: 0,
});
const run = (requestId: string): Woken => ({ work: { kind: 'run', requestId }, delayMs: 0 });

test('a lease and a heartbeat mark their shard, so that other processes look there if this one dies', async () => {
  const threadId = newThreadId();
  await quiet.enqueue(threadId, { id: 'm1', body: { text: 'hello' } });
  const claimed = await store.claimTurn(threadId, MINUTE_MS);
  if (claimed.outcome !== 'claimed') throw new Error(`The thread is ${claimed.outcome}`);
  await store.renewLease(claimed.turn, MINUTE_MS);
  const requestId = await askAndStart(quiet);
  await store.heartbeat(requestId, 'first', MINUTE_MS);
  const both = newThreadId();
  await store.enqueueAndClaim(both, { id: 'm1', body: { text: 'hello' } }, { leaseMs: MINUTE_MS });
  const shards = [threadId, threadId, threadOf(requestId) ?? '', both].map((id) => shardOf(id));
  expect(marked).toEqual(shards);
  expect(woken).toEqual([]);
});

test('what is said in a free thread wakes it, and the same said twice does not', async () => {
  const threadId = newThreadId();
  const item = { id: 'm1', body: { text: 'hello' } };
  await store.enqueue(threadId, item);
  await store.enqueue(threadId, item);
  expect(woken).toEqual([{ work: { kind: 'thread', threadId }, delayMs: 0 }]);
});

test('what is said to a known thread only wakes it if there is one', async () => {
  const [threadId, item] = [newThreadId(), { id: 'm1', body: { text: 'hello' } }];
  expect(await store.enqueue(threadId, item, { onlyKnown: true })).toEqual({ outcome: 'unknown-thread' });
  expect(woken).toEqual([]);
  await quiet.enqueue(threadId, { ...item, id: 'm0' });
  expect(await store.enqueue(threadId, item, { onlyKnown: true })).toMatchObject({ outcome: 'enqueued' });
  expect(woken).toEqual([{ work: { kind: 'thread', threadId }, delayMs: 0 }]);
});

test('a stop and a look at what waits wake nobody', async () => {
  const threadId = newThreadId();
  await beginTurn(quiet, threadId);
  expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'stopping' });
  expect(await store.waitingIn(threadId)).toEqual([]);
  expect(woken).toEqual([]);
});

test('a turn whose requests its stop withdraws wakes its thread', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(quiet, threadId);
  await quiet.stop(threadId, actor('U-rita'));
  await suspendTurn(store, turn, { requests: [newRequest(threadId)] });
  expect(woken).toContainEqual({ work: { kind: 'thread', threadId }, delayMs: 0 });
});

test('a further place for a card wakes the outbox, and one for a request that is settled does not', async () => {
  const requestId = await ask(quiet);
  expect(await store.addViews(requestId, [PLACE])).toEqual({ outcome: 'added', views: 1 });
  expect(woken.splice(0)).toEqual([outbox(requestId)]);
  await quiet.vote(requestId, reject('U-ann'));
  await store.addViews(requestId, [{ ...PLACE, id: 'dm' }]);
  expect(woken).toEqual([]);
});

test('what is said while requests are open wakes nobody', async () => {
  const requestId = await ask(quiet);
  await store.enqueue(threadOf(requestId) ?? '', { id: 'm2', body: { text: 'and?' } });
  expect(woken).toEqual([]);
});

test('a turn that asks wakes the outbox now and its timers when they are due', async () => {
  const threadId = newThreadId();
  const escalate = { afterMs: 2000, to: ['U-boss'] };
  const policy = { expiresInMs: 3000, remindEveryMs: 1000, escalate };
  const request = newRequest(threadId, { policy, views: [PLACE] });
  await suspendTurn(store, await beginTurn(quiet, threadId), { requests: [request] });
  expect(woken).toEqual([
    outboxOf(threadId),
    { work: { kind: 'timer', timer: 'expire', id: request.id }, delayMs: 3000 },
    { work: { kind: 'timer', timer: 'remind', id: request.id }, delayMs: 1000 },
    { work: { kind: 'timer', timer: 'escalate', id: request.id }, delayMs: 2000 },
  ]);
});

test('a turn that only answers wakes the outbox, and the thread for what was said meanwhile', async () => {
  const threadId = newThreadId();
  await suspendTurn(store, await beginTurn(quiet, threadId), { rows: [row()] });
  expect(woken.splice(0)).toEqual([outboxOf(threadId)]);
  const turn = await beginTurn(quiet, threadId);
  await quiet.enqueue(threadId, { id: 'meanwhile', body: { text: 'and this' } });
  await suspendTurn(store, turn, { rows: [row()] });
  expect(woken).toEqual([{ work: { kind: 'thread', threadId }, delayMs: 0 }, outboxOf(threadId)]);
});

test('a turn that lost its thread wakes nobody', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(quiet, threadId);
  const result = await store.suspend({ ...turn, token: '0' }, { messages: [], read: 0, rows: [row()] });
  expect(result.outcome).toBe('stale');
  expect(woken).toEqual([]);
});

test('a vote redraws the card, the last one runs the action, a veto wakes the thread', async () => {
  const two = await ask(quiet, { policy: { quorum: 2 } });
  await store.vote(two, approve('U-ann'));
  expect(woken.splice(0)).toEqual([outbox(two)]);
  await store.vote(two, approve('U-ben'));
  expect(woken.splice(0)).toEqual([run(two), outbox(two)]);
  const vetoed = await ask(quiet);
  await store.vote(vetoed, reject('U-ann'));
  expect(woken).toEqual([thread(vetoed), outbox(vetoed)]);
});

test('a vote that is refused or comes too late wakes nobody', async () => {
  const requestId = await ask(quiet);
  await store.vote(requestId, approve('U-eve', { eligible: false }));
  await quiet.vote(requestId, reject('U-ann'));
  await store.vote(requestId, approve('U-ben'));
  await store.vote('T-none~r1', approve('U-ben'));
  expect(woken).toEqual([]);
});

test('a click on a request whose time is over wakes its end', async () => {
  const approval = await ask(quiet, { policy: { expiresInMs: 0 } });
  const question = await ask(quiet, { kind: 'question', policy: { expiresInMs: 0 } });
  await store.vote(approval, approve('U-ann'));
  await store.answer(question, actor('U-ann'), 'blue');
  expect(woken).toEqual(
    [approval, question].map((id) => ({ work: { kind: 'timer', timer: 'expire', id }, delayMs: 0 })),
  );
});

test.each<[string, () => Promise<string>, (requestId: string) => Promise<{ outcome: string }>, string]>([
  [
    'an answer',
    () => ask(quiet, { kind: 'question' }),
    (id) => store.answer(id, actor('U-ann'), 1),
    'answered',
  ],
  ['a withdrawal', () => ask(quiet), (id) => store.withdraw(id, actor('U-rita'), 'no'), 'withdrawn'],
  ['a change of its ground', () => ask(quiet), (id) => store.supersede(id, 'changed'), 'superseded'],
  ['giving it up', () => ask(quiet), (id) => store.abandon(id, 'no channel'), 'abandoned'],
  ['an expiry', () => ask(quiet, { policy: { expiresInMs: 0 } }), (id) => store.expire(id), 'expired'],
  ['an outcome', () => askAndStart(quiet), (id) => store.finish(id, outcome('first')), 'finished'],
  [
    'a verdict',
    () => askAndLose(quiet),
    (id) => store.resolve(id, actor('U-ops'), 'ran', 'seen'),
    'resolved',
  ],
])('%s wakes the thread and the outbox', async (_what, open, settle, expected) => {
  const requestId = await open();
  expect((await settle(requestId)).outcome).toBe(expected);
  expect(woken).toEqual([thread(requestId), outbox(requestId)]);
});

test('a start redraws the card after a moment and sets the heartbeat timeout; one that is superseded wakes the thread', async () => {
  const requestId = await ask(quiet);
  await quiet.vote(requestId, approve('U-ann'));
  await store.start(requestId, attempt('first', { heartbeatTimeoutMs: 500 }));
  expect(woken.splice(0)).toEqual([
    outboxOf(threadOf(requestId) ?? '', 500),
    { work: { kind: 'timer', timer: 'recover', id: requestId }, delayMs: 500 },
  ]);
  const changed = await ask(quiet);
  await quiet.vote(changed, approve('U-ann'));
  await store.start(changed, attempt('first', { digest: 'another' }));
  expect(woken).toEqual([thread(changed), outbox(changed)]);
});

test('a retry that may not start redraws the card, wakes the look for its outcome, and no thread', async () => {
  const changed = await askAndRetry(quiet);
  await store.start(changed, attempt('second', { digest: 'another' }));
  const superseded = await askAndRetry(quiet);
  await store.supersede(superseded, 'not-allowed');
  expect(woken).toEqual([look(changed), outbox(changed), look(superseded), outbox(superseded)]);
});

test('an offer to undo wakes its timer when it is over, and each further step redraws the card', async () => {
  const requestId = await askAndStart(quiet);
  await quiet.finish(requestId, outcome('first'));
  await store.offerUndo(requestId, 500);
  expect(woken.splice(0)).toEqual([{ work: { kind: 'timer', timer: 'undo', id: requestId }, delayMs: 500 }]);
  await store.noteUndo(requestId, 'asked', { by: 'U-rita' });
  expect(woken).toEqual([outbox(requestId)]);
});

test('a sign of life wakes the outbox only if it tells of progress', async () => {
  const requestId = await askAndStart(quiet);
  await store.heartbeat(requestId, 'first', MINUTE_MS);
  expect(woken).toEqual([]);
  await store.heartbeat(requestId, 'first', MINUTE_MS, 'half');
  expect(woken).toEqual([outbox(requestId)]);
});

test('an idempotent action that fell silent runs again, any other is shown as unknown', async () => {
  const again = await askAndStart(quiet, { execution: { idempotent: true } }, { heartbeatTimeoutMs: 0 });
  await store.recover(again);
  expect(woken.splice(0)).toEqual([run(again), outbox(again)]);
  const once = await askAndStart(quiet, {}, { heartbeatTimeoutMs: 0 });
  await store.recover(once);
  expect(woken.splice(0)).toEqual([outbox(once)]);
  const { revision } = await found(quiet, once);
  await store.askResolvers(once, revision, { row: row(), views: [] });
  expect(woken).toEqual([outbox(once)]);
});

test('a person who says "run again" wakes the action', async () => {
  const requestId = await askAndLose(quiet);
  // A verdict on another try than the last is none.
  expect(await store.resolve(requestId, actor('U-ops'), 'run-again', 'it did not', 0)).toEqual({
    outcome: 'not-as-shown',
  });
  await store.resolve(requestId, actor('U-ops'), 'run-again', 'it did not');
  expect(woken).toEqual([run(requestId), outbox(requestId)]);
});

test('a reminder and an escalation wake the outbox, and before their time nobody', async () => {
  const policy = { remindEveryMs: 1, escalate: { afterMs: 0, to: ['U-boss'] } };
  const due = await ask(quiet, { policy });
  await expect.poll(() => store.remind(due, row())).toEqual({ outcome: 'reminded' });
  expect(woken.splice(0)).toEqual([outbox(due)]);
  await store.escalate(due, row());
  expect(woken.splice(0)).toEqual([outbox(due)]);
  const early = await ask(quiet, { policy: { remindEveryMs: MINUTE_MS } });
  await store.remind(early, row());
  await store.expire(early);
  expect(woken).toEqual([]);
});

test('the outbox is woken by a new row, after a full hand, for a view that changed again, and later for a retry', async () => {
  const threadId = await quietThread();
  const shard = shardOf(threadId);
  await store.enqueueOutbox(threadId, row());
  expect(woken.splice(0)).toEqual([outboxOf(threadId)]);
  const [item] = await store.claimOutbox(shard, { leaseMs: MINUTE_MS, limit: 1 });
  expect(woken.splice(0)).toEqual([outboxOf(threadId)]);
  if (item === undefined) throw new Error('Nothing was due');
  await store.retryOutbox(item, 700);
  expect(woken.splice(0)).toEqual([outboxOf(threadId, 700)]);
  await store.retryOutbox(item, 700);
  expect(woken).toEqual([]);
});

test('a view that was drawn from an older record is due again', async () => {
  const requestId = await ask(quiet, { views: [PLACE], policy: { quorum: 2 } });
  const shard = shardOf(threadOf(requestId) ?? '');
  const items = await quiet.claimOutbox(shard, { leaseMs: MINUTE_MS, limit: 100 });
  const view = items.find((item) => item.kind === 'view' && item.requestId === requestId);
  if (view?.kind !== 'view') throw new Error('The view was not due');
  await quiet.vote(requestId, approve('U-ann'));
  expect(await store.doneView(view, 1, { ts: '1' })).toBe('due-again');
  expect(woken).toEqual([outbox(requestId)]);
});

/** A thread in a shard whose outbox is empty, so that a hand of one holds what the test put there. */
async function quietThread(): Promise<string> {
  const threadId = newThreadId();
  const held = await quiet.claimOutbox(shardOf(threadId), { leaseMs: MINUTE_MS, limit: 100 });
  return held.length === 0 ? threadId : quietThread();
}
