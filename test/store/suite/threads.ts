import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import type { ClaimedTurn } from '../../../src/store/port/values.ts';
import {
  approve,
  attempt,
  beginTurn,
  found,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  outcome,
  reject,
  resultMessage,
  stateOf,
  suspendTurn,
  takeTurn,
} from '../support.ts';
import type { Subject } from './suite.ts';

const FAILURE = { mostFailures: 3, delayMs: MINUTE_MS, reason: 'no answer', notices: [] };

/** A thread: its inbox, its one live turn, and the pause. */
export function describeThreads(subject: () => Subject): void {
  describe('the inbox', () => {
    test('gives what was said in the order in which it came', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      for (const id of ['c', 'a', 'b']) await store.enqueue(threadId, { id, body: { text: id } });
      const { inbox } = await takeTurn(store, threadId);
      expect(inbox).toEqual(['c', 'a', 'b'].map((id) => ({ id, body: { text: id } })));
    });

    test('takes the same message once, also after it was read', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const item = { id: 'C1:171.2', body: { text: 'hello' } };
      expect(await store.enqueue(threadId, item)).toEqual({
        outcome: 'enqueued',
        waiting: 0,
        place: 1,
        busy: false,
      });
      expect(await store.enqueue(threadId, item)).toEqual({ outcome: 'duplicate' });
      const turn = await takeTurn(store, threadId);
      expect(turn.inbox).toHaveLength(1);
      await suspendTurn(store, turn);
      expect(await store.enqueue(threadId, item)).toEqual({ outcome: 'duplicate' });
      expect(await store.claimTurn(threadId, MINUTE_MS)).toEqual({ outcome: 'idle' });
    });

    test.each<[string, (store: Store, turn: ClaimedTurn) => Promise<unknown>]>([
      ['was given back', (store, turn) => store.release(turn)],
      ['failed', (store, turn) => store.release(turn, FAILURE)],
    ])(
      'takes words as said at work while a turn that has read its messages and %s is not continued',
      async (_, interrupt) => {
        const { store } = subject();
        const turn = await beginTurn(store, newThreadId());
        const effect = { ref: 'call-1', tool: 'book', run: 'run-1', logged: 0, read: 1, evidence: {} };
        await store.startEffect(turn, { ...effect, messages: [message('before')] });
        await interrupt(store, turn);
        const bodyAtWork = { role: 'context' };
        await store.enqueue(turn.threadId, { id: 'later', body: {} }, { bodyAtWork });
        expect((await takeTurn(store, turn.threadId)).inbox).toEqual([{ id: 'later', body: bodyAtWork }]);
      },
    );

    test('keeps what comes during a turn for the next, and wakes the thread for it', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      await store.enqueue(threadId, { id: 'later', body: {} });
      await suspendTurn(store, turn);
      const due = await store.due({ overdueMs: 0, limit: 1000 });
      expect(due.threads).toContain(threadId);
      expect((await takeTurn(store, threadId)).inbox.map(({ id }) => id)).toEqual(['later']);
    });

    test('says whether a turn has not ended, after which the message is read', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      expect(await store.enqueue(threadId, { id: 'during', body: {} })).toMatchObject({ busy: true });
      await suspendTurn(store, turn);
      expect(await store.enqueue(threadId, { id: 'after', body: {} })).toMatchObject({ busy: false });
      await takeTurn(store, threadId, 0);
      expect(await store.enqueue(threadId, { id: 'lapsed', body: {} })).toMatchObject({ busy: true });
    });

    test('opens no thread for what is only said to a known one', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const item = { id: 'aside', body: {} };
      const unknown = { outcome: 'unknown-thread' };
      expect(await store.enqueue(threadId, item, { onlyKnown: true })).toEqual(unknown);
      expect(await store.claimTurn(threadId, MINUTE_MS)).toEqual({ outcome: 'idle' });
      await store.enqueue(threadId, { id: 'first', body: {} });
      expect(await store.enqueue(threadId, item, { onlyKnown: true })).toMatchObject({
        outcome: 'enqueued',
        place: 2,
      });
      expect(await store.enqueue(threadId, item, { onlyKnown: true })).toEqual({ outcome: 'duplicate' });
    });

    test('says how many requests the thread waits for', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      await suspendTurn(store, await beginTurn(store, threadId), {
        requests: [newRequest(threadId), newRequest(threadId)],
      });
      const put = await store.enqueue(threadId, { id: 'meanwhile', body: {} });
      expect(put).toEqual({ outcome: 'enqueued', waiting: 2, place: 1, busy: false });
      expect(await store.claimTurn(threadId, MINUTE_MS)).toEqual({ outcome: 'waiting', requests: 2 });
    });
  });

  describe('a turn', () => {
    test('is held by one worker at a time', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      await store.enqueue(threadId, { id: 'a', body: {} });
      const all = await Promise.all(Array.from({ length: 8 }, () => store.claimTurn(threadId, MINUTE_MS)));
      expect(all.map((taken) => taken.outcome).sort()).toEqual([...Array(7).fill('busy'), 'claimed']);
    });

    test('passes to another worker when its lease has run out, and its old token writes nothing', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const old = await beginTurn(store, threadId, 0);
      const current = await takeTurn(store, threadId);
      expect(Number(current.token)).toBeGreaterThan(Number(old.token));
      const request = newRequest(threadId);
      const end = { messages: [message('stale')], read: 1, requests: [request] };
      expect(await store.suspend(old, end)).toEqual({ outcome: 'stale' });
      expect(await store.renewLease(old, MINUTE_MS)).toEqual({ outcome: 'stale' });
      expect(await store.load(request.id)).toEqual({ outcome: 'unknown' });
      await suspendTurn(store, current, { messages: [message('fresh')], read: 0 });
      const { messages, inbox } = await takeTurn(store, threadId);
      expect(messages).toEqual([message('fresh')]);
      expect(inbox).toHaveLength(1);
    });

    test('that is renewed stays with its worker', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId, 0);
      expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'renewed' });
      expect(await store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome: 'busy' });
    });

    test('whose process died twice runs alone: another such thread waits until it has ended, and one without deaths does not', async () => {
      const { store } = subject();
      const suspects = [newThreadId(), newThreadId()] as const;
      for (const threadId of suspects) {
        await beginTurn(store, threadId, 0);
        await store.claimTurn(threadId, 0);
      }
      const alone = await takeTurn(store, suspects[0]);
      expect(await store.claimTurn(suspects[1], MINUTE_MS)).toMatchObject({ outcome: 'busy' });
      await beginTurn(store, newThreadId());
      await store.release(alone);
      const other = await takeTurn(store, suspects[1]);
      expect(await store.claimTurn(suspects[0], MINUTE_MS)).toMatchObject({ outcome: 'claimed' });
      await store.release(other);
    });

    test.each([
      ['is given back', (store: Store, turn: ClaimedTurn) => store.release(turn)],
      ['fails', (store: Store, turn: ClaimedTurn) => store.release(turn, FAILURE)],
      ['ends', (store: Store, turn: ClaimedTurn) => suspendTurn(store, turn, { read: 0 })],
    ])('that %s is not counted as one whose process died', async (_how, end) => {
      const { store } = subject();
      const threadId = newThreadId();
      await beginTurn(store, threadId, 0);
      for (let deaths = 1; deaths < 4; deaths += 1) await store.claimTurn(threadId, 0);
      await end(store, await takeTurn(store, threadId));
      for (let deaths = 0; deaths < 5; deaths += 1)
        expect(await store.claimTurn(threadId, 0)).toMatchObject({ outcome: 'claimed' });
      expect(await store.claimTurn(threadId, 0)).toMatchObject({ outcome: 'died' });
    });

    test('that has ended cannot be renewed or written again', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      await suspendTurn(store, turn, { messages: [message('once')] });
      await suspendTurn(store, turn, { messages: [message('once')] });
      expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stale' });
      expect((await beginTurn(store, threadId)).messages).toEqual([message('once')]);
    });
  });

  describe('suspend', () => {
    test('writes messages, requests and outbox rows together and gives the thread back', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const views = [{ id: 'thread', place: { channel: 'C1' } }];
      const requests = [newRequest(threadId, { views }), newRequest(threadId, { kind: 'question' })];
      const rows = [{ id: `${threadId}:status`, body: { text: 'waiting' } }];
      const turn = await beginTurn(store, threadId);
      const end = { messages: [message('please')], read: 1, requests, rows };
      expect(await store.suspend(turn, end)).toEqual({ outcome: 'suspended', waiting: 2, unread: 0 });
      for (const { id, kind } of requests)
        expect(await found(store, id)).toMatchObject({ state: 'pending', kind, threadId });
      const items = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
      expect(items).toContainEqual(
        expect.objectContaining({ rowId: `${threadId}:status`, body: rows[0]?.body }),
      );
      expect(items).toContainEqual(expect.objectContaining({ requestId: requests[0]?.id, viewId: 'thread' }));
    });

    test('lets the thread go on when the last of its requests is settled, and tells what became of each', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const [refused, run] = [newRequest(threadId), newRequest(threadId)];
      await suspendTurn(store, await beginTurn(store, threadId), {
        messages: [message('please')],
        requests: [refused, run],
      });
      expect([...(await store.waitingIn(threadId))].sort()).toEqual([refused.id, run.id].sort());
      await store.vote(refused.id, reject('U-ann', { reason: 'too\nmuch' }));
      expect(await store.waitingIn(threadId)).toEqual([run.id]);
      expect(await store.claimTurn(threadId, MINUTE_MS)).toEqual({ outcome: 'waiting', requests: 1 });
      await store.vote(run.id, approve('U-ben'));
      await store.start(run.id, attempt('first'));
      await store.finish(run.id, outcome('first', { summary: { refund: 'R-1' } }));
      expect(await store.waitingIn(threadId)).toEqual([]);
      const due = await store.due({ overdueMs: 0, limit: 1000 });
      expect(due.threads).toContain(threadId);
      const turn = await takeTurn(store, threadId);
      expect(turn.messages).toEqual([message('please'), resultMessage()]);
      expect(turn.settled).toHaveLength(2);
      expect(turn.settled).toContainEqual({
        requestId: refused.id,
        state: 'rejected',
        by: 'U-ann',
        payload: 'too\nmuch',
      });
      expect(turn.settled).toContainEqual({
        requestId: run.id,
        state: 'succeeded',
        by: 'U-ben',
        payload: '{"refund":"R-1"}',
      });
      await suspendTurn(store, turn);
      expect((await beginTurn(store, threadId)).settled).toEqual([]);
    });

    test('an approved action runs while its siblings still wait', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const [first, second] = [newRequest(threadId), newRequest(threadId)];
      await suspendTurn(store, await beginTurn(store, threadId), { requests: [first, second] });
      await store.vote(first.id, approve('U-ann'));
      expect(await store.start(first.id, attempt('first'))).toEqual({ outcome: 'started', tries: 1 });
      expect(await store.finish(first.id, outcome('first'))).toMatchObject({ outcome: 'finished' });
      expect(await stateOf(store, second.id)).toBe('pending');
    });
  });
}
