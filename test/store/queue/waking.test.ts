import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { Work } from '../../../src/store/port/queue.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { Attempt } from '../../../src/store/port/values.ts';
import { nameOfWork } from '../../../src/store/port/work.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import {
  actor,
  approve,
  askAndLose as askAndLoseWith,
  askAndRetry as askAndRetryWith,
  askAndStart as askAndStartWith,
  ask as askWith,
  attempt,
  beginTurn,
  found,
  MINUTE_MS,
  newRequest,
  newThreadId,
  outcome,
  type RequestChanges,
  reject,
  suspendTurn,
  takeTurn,
  withdrawal,
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

beforeAll(() => {
  redis = connectTestRedis();
  quiet = openRedisStore({ client: redis.client, prefix: redis.prefix });
  store = openRedisStore({
    client: redis.client,
    prefix: redis.prefix,
    onReport: ({ due }) => void woken.push(...due),
  });
});
beforeEach(() => {
  woken = [];
});
afterAll(() => redis.close());

/** A request has one card, so that its changes are seen. */
const withCard = (changes: RequestChanges = {}): RequestChanges => ({ views: [PLACE], ...changes });
const ask = (record: Store, changes?: RequestChanges) => askWith(record, withCard(changes));
const askAndStart = (record: Store, changes?: RequestChanges, started?: Partial<Attempt>) =>
  askAndStartWith(record, withCard(changes), started);
const askAndLose = (record: Store) => askAndLoseWith(record, withCard());
const askAndRetry = (record: Store) => askAndRetryWith(record, withCard());

/** Checks what was woken since the last look, in any order. */
function expectWoken(expected: readonly Woken[]): void {
  const names = (each: readonly Woken[]) =>
    each.map(({ work, delayMs }) => `${nameOfWork(work)} in ${delayMs}`).sort();
  expect(names(woken.splice(0))).toEqual(names(expected));
}

const row = () => ({ id: randomUUID(), body: { text: 'look' } });
const thread = (requestId: string): Woken => ({
  work: { kind: 'thread', threadId: threadOf(requestId) ?? '' },
  delayMs: 0,
});
const outbox = (delayMs = 0): Woken => ({ work: { kind: 'outbox' }, delayMs });
const look = (requestId: string): Woken => ({
  work: { kind: 'timer', timer: 'recover', id: requestId },
  delayMs: 0,
});
const run = (requestId: string): Woken => ({ work: { kind: 'run', requestId }, delayMs: 0 });

// First, because it finds no other threads whose time is past.
test('the end of a turn that has to run alone wakes a thread that waits for it', async () => {
  const [alone, waiting] = [newThreadId(), newThreadId()];
  for (const threadId of [alone, waiting]) {
    await beginTurn(quiet, threadId, 0);
    await quiet.claimTurn(threadId, 0);
  }
  const turn = await takeTurn(quiet, alone);
  expect(await quiet.claimTurn(waiting, MINUTE_MS)).toMatchObject({ outcome: 'busy' });
  await store.release(turn);
  const woke = [alone, waiting].map(
    (threadId): Woken => ({ work: { kind: 'thread', threadId }, delayMs: 0 }),
  );
  expectWoken(woke);
});

test('what is said in a free thread wakes it, and the same said twice does not', async () => {
  const threadId = newThreadId();
  const item = { id: 'm1', body: { text: 'hello' } };
  await store.enqueue(threadId, item);
  await store.enqueue(threadId, item);
  expectWoken([{ work: { kind: 'thread', threadId }, delayMs: 0 }]);
});

test('what is said to a known thread only wakes it if there is one', async () => {
  const [threadId, item] = [newThreadId(), { id: 'm1', body: { text: 'hello' } }];
  expect(await store.enqueue(threadId, item, { onlyKnown: true })).toEqual({ outcome: 'unknown-thread' });
  expectWoken([]);
  await quiet.enqueue(threadId, { ...item, id: 'm0' });
  expect(await store.enqueue(threadId, item, { onlyKnown: true })).toMatchObject({ outcome: 'enqueued' });
  expectWoken([{ work: { kind: 'thread', threadId }, delayMs: 0 }]);
});

test('a stop and a look at what waits wake nobody', async () => {
  const threadId = newThreadId();
  await beginTurn(quiet, threadId);
  expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'stopping' });
  expect(await store.waitingIn(threadId)).toEqual([]);
  expectWoken([]);
});

test('a turn whose requests its stop withdraws wakes its thread', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(quiet, threadId);
  await quiet.stop(threadId, actor('U-rita'));
  await suspendTurn(store, turn, { requests: [newRequest(threadId)] });
  expect(woken).toContainEqual({ work: { kind: 'thread', threadId }, delayMs: 0 });
});

test('a further place for a card wakes the outbox, and one for a request that is settled does not', async () => {
  const requestId = await ask(quiet, { views: [] });
  expect(await store.redraw(requestId, { views: [PLACE] })).toEqual({ outcome: 'redrawn', added: 1 });
  expectWoken([outbox()]);
  await quiet.vote(requestId, reject('U-ann'));
  await store.redraw(requestId, { views: [{ ...PLACE, id: 'dm' }] });
  expectWoken([]);
});

test('what is said while requests are open wakes nobody', async () => {
  const requestId = await ask(quiet);
  await store.enqueue(threadOf(requestId) ?? '', { id: 'm2', body: { text: 'and?' } });
  expectWoken([]);
});

test('a turn that asks wakes the outbox now and its timers when they are due', async () => {
  const threadId = newThreadId();
  const escalate = { afterMs: 2000, to: ['U-boss'] };
  const policy = { expiresInMs: 3000, remindEveryMs: 1000, escalate };
  const request = newRequest(threadId, { policy, views: [PLACE] });
  await suspendTurn(store, await beginTurn(quiet, threadId), { requests: [request] });
  expectWoken([
    outbox(),
    { work: { kind: 'timer', timer: 'expire', id: request.id }, delayMs: 3000 },
    { work: { kind: 'timer', timer: 'remind', id: request.id }, delayMs: 1000 },
    { work: { kind: 'timer', timer: 'escalate', id: request.id }, delayMs: 2000 },
  ]);
});

test('a turn that only answers wakes the outbox, and the thread for what was said meanwhile', async () => {
  const threadId = newThreadId();
  await suspendTurn(store, await beginTurn(quiet, threadId), { rows: [row()] });
  expectWoken([outbox()]);
  const turn = await beginTurn(quiet, threadId);
  await quiet.enqueue(threadId, { id: 'meanwhile', body: { text: 'and this' } });
  await suspendTurn(store, turn, { rows: [row()] });
  expectWoken([{ work: { kind: 'thread', threadId }, delayMs: 0 }, outbox()]);
});

test('a turn that lost its thread wakes nobody', async () => {
  const threadId = newThreadId();
  const turn = await beginTurn(quiet, threadId);
  const result = await store.suspend({ ...turn, token: '0' }, { messages: [], read: 0, rows: [row()] });
  expect(result.outcome).toBe('stale');
  expectWoken([]);
});

test('a vote redraws the card, the last one runs the action, a veto wakes the thread', async () => {
  const two = await ask(quiet, { policy: { quorum: 2 } });
  await store.vote(two, approve('U-ann'));
  expectWoken([outbox()]);
  await store.vote(two, approve('U-ben'));
  expectWoken([run(two), outbox()]);
  const vetoed = await ask(quiet);
  await store.vote(vetoed, reject('U-ann'));
  expectWoken([thread(vetoed), outbox()]);
});

test('a vote that is refused or comes too late wakes nobody', async () => {
  const requestId = await ask(quiet);
  await store.vote(requestId, approve('U-eve', { eligible: false }));
  await quiet.vote(requestId, reject('U-ann'));
  await store.vote(requestId, approve('U-ben'));
  await store.vote('T-none~r1', approve('U-ben'));
  expectWoken([]);
});

test('a click on a request whose time is over wakes its end', async () => {
  const approval = await ask(quiet, { policy: { expiresInMs: 0 } });
  const question = await ask(quiet, { kind: 'question', policy: { expiresInMs: 0 } });
  await store.vote(approval, approve('U-ann'));
  await store.answer(question, actor('U-ann'), 'blue');
  expectWoken(
    [approval, question].map((id) => ({ work: { kind: 'timer', timer: 'expire', id }, delayMs: 0 })),
  );
});

type Settling = [string, () => Promise<string>, (requestId: string) => Promise<{ outcome: string }>, string];
test.each<Settling>([
  [
    'an answer',
    () => ask(quiet, { kind: 'question' }),
    (id) => store.answer(id, actor('U-ann'), 1),
    'answered',
  ],
  ...[
    withdrawal('U-rita', 'no'),
    { state: 'superseded', reason: 'changed' } as const,
    { state: 'failed', reason: 'no channel' } as const,
    { state: 'expired' } as const,
  ].map(
    (end): Settling => [
      `a request that ends as ${end.state}`,
      () => ask(quiet, { policy: { expiresInMs: 0 } }),
      (id) => store.end(id, end),
      'ended',
    ],
  ),
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
  expectWoken([thread(requestId), outbox()]);
});

test('a start redraws the card after a moment and sets the heartbeat timeout; one that is superseded wakes the thread', async () => {
  const requestId = await ask(quiet);
  await quiet.vote(requestId, approve('U-ann'));
  await store.start(requestId, attempt('first', { heartbeatTimeoutMs: 500 }));
  expectWoken([outbox(500), { work: { kind: 'timer', timer: 'recover', id: requestId }, delayMs: 500 }]);
  const changed = await ask(quiet);
  await quiet.vote(changed, approve('U-ann'));
  await store.start(changed, attempt('first', { digest: 'another' }));
  expectWoken([thread(changed), outbox()]);
});

test('a retry that may not start redraws the card, wakes the look for its outcome, and no thread', async () => {
  const changed = await askAndRetry(quiet);
  await store.start(changed, attempt('second', { digest: 'another' }));
  const superseded = await askAndRetry(quiet);
  await store.end(superseded, { state: 'superseded', reason: 'not-allowed' });
  expectWoken([look(changed), outbox(), look(superseded), outbox()]);
});

test('an offer to undo wakes its timer when it is over, and each further step redraws the card', async () => {
  const requestId = await askAndStart(quiet);
  await quiet.finish(requestId, outcome('first'));
  await store.noteUndo(requestId, 'offered', {}, 500);
  expect(woken.splice(0)).toEqual([
    { work: { kind: 'timer', timer: 'undo', id: requestId }, delayMs: expect.toSatisfy((ms) => ms <= 500) },
  ]);
  await store.noteUndo(requestId, 'asked', { by: 'U-rita' });
  expectWoken([outbox()]);
});

test('a sign of life wakes the outbox only if it tells of progress', async () => {
  const requestId = await askAndStart(quiet);
  await store.heartbeat(requestId, 'first', MINUTE_MS);
  expectWoken([]);
  await store.heartbeat(requestId, 'first', MINUTE_MS, 'half');
  expectWoken([outbox()]);
});

test('an idempotent action that fell silent runs again, any other is shown as unknown', async () => {
  const again = await askAndStart(quiet, { execution: { idempotent: true } }, { heartbeatTimeoutMs: 0 });
  await store.recover(again);
  expectWoken([run(again), outbox()]);
  const once = await askAndStart(quiet, {}, { heartbeatTimeoutMs: 0 });
  await store.recover(once);
  expectWoken([outbox()]);
  const { revision } = await found(quiet, once);
  await store.notify(once, 'recover', { row: row(), views: [], revision });
  expectWoken([outbox()]);
});

test('a person who says "run again" wakes the action', async () => {
  const requestId = await askAndLose(quiet);
  // A verdict on another try than the last is none.
  expect(await store.resolve(requestId, actor('U-ops'), 'run-again', 'it did not', 0)).toEqual({
    outcome: 'not-as-shown',
  });
  await store.resolve(requestId, actor('U-ops'), 'run-again', 'it did not');
  expectWoken([run(requestId), outbox()]);
});

test('a reminder wakes the outbox and the next reminder, an escalation the outbox, and before their time nobody', async () => {
  const policy = { remindEveryMs: 1, escalate: { afterMs: 0, to: ['U-boss'] } };
  const due = await ask(quiet, { policy });
  await expect.poll(() => store.notify(due, 'remind', { row: row() })).toEqual({ outcome: 'sent' });
  expectWoken([outbox(), { work: { kind: 'timer', timer: 'remind', id: due }, delayMs: 1 }]);
  await store.notify(due, 'escalate', { row: row() });
  expectWoken([outbox()]);
  const early = await ask(quiet, { policy: { remindEveryMs: MINUTE_MS } });
  await store.notify(early, 'remind', { row: row() });
  await store.end(early, { state: 'expired' });
  expectWoken([]);
});

test('the outbox is woken by a new row, after a full hand, for a view that changed again, and later for a retry', async () => {
  const threadId = await quietThread();
  await store.enqueueOutbox(threadId, row());
  expectWoken([outbox()]);
  const [item] = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 });
  expectWoken([outbox()]);
  if (item === undefined) throw new Error('Nothing was due');
  await store.retryOutbox(item, 700);
  expectWoken([outbox(700)]);
  await store.retryOutbox(item, 700);
  expectWoken([]);
});

test('a view that was drawn from an older record is due again', async () => {
  const requestId = await ask(quiet, { views: [PLACE], policy: { quorum: 2 } });
  const items = await quiet.claimOutbox({ leaseMs: MINUTE_MS, limit: 100 });
  const view = items.find((item) => item.kind === 'view' && item.requestId === requestId);
  if (view?.kind !== 'view') throw new Error('The view was not due');
  await quiet.vote(requestId, approve('U-ann'));
  expect(await store.done(view, { revision: 1, postedAt: { ts: '1' } })).toBe('due-again');
  expectWoken([outbox()]);
});

/** A thread while the outbox is empty, so that a hand of one holds what the test put there. */
async function quietThread(): Promise<string> {
  const threadId = newThreadId();
  const held = await quiet.claimOutbox({ leaseMs: MINUTE_MS, limit: 100 });
  return held.length === 0 ? threadId : quietThread();
}
