import { describe, expect, test } from 'vitest';
import { Keys } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { ClaimedTurn } from '../../../src/store/port/values.ts';
import {
  actor,
  approve,
  beginTurn,
  found,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  stateOf,
  suspendTurn,
  takeTurn,
  withdrawal,
} from '../support.ts';
import type { Subject } from './suite.ts';

/** A stop of a running turn. */
export function describeStops(subject: () => Subject): void {
  describe('a stop', () => {
    test('reaches the turn that is going on, and not the one after it', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'stopping' });
      expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'stopping' });
      expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stopped' });
      expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stopped' });
      await suspendTurn(store, turn, { messages: [message('stopped')] });
      const next = await beginTurn(store, threadId);
      expect(next.messages).toEqual([message('stopped')]);
      expect(await store.renewLease(next, MINUTE_MS)).toEqual({ outcome: 'renewed' });
    });

    test('finds nothing to stop where no turn is going on', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'idle' });
      await suspendTurn(store, await beginTurn(store, threadId));
      expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'idle' });
      const next = await beginTurn(store, threadId);
      expect(await store.renewLease(next, MINUTE_MS)).toEqual({ outcome: 'renewed' });
    });

    test('in a message is on record with it: it reaches the turn that runs, also if another process continues it, and not the one that reads it', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      const item = { id: 'stop', body: {} };
      const enqueued = await store.enqueue(threadId, item, { stops: actor('U-rita') });
      expect(enqueued).toMatchObject({ busy: true, stop: { token: turn.token, at: expect.any(Number) } });
      await store.renewLease(turn, 0);
      const continued = await takeTurn(store, threadId);
      expect(continued).toMatchObject({ isStopped: true, inbox: turn.inbox });
      const request = newRequest(threadId);
      await suspendTurn(store, continued, { requests: [request] });
      expect(await found(store, request.id)).toMatchObject({ state: 'withdrawn', by: 'U-rita' });
      const next = await takeTurn(store, threadId);
      expect(next.inbox).toEqual([item]);
      expect(next).not.toHaveProperty('isStopped');
      const copy = await store.enqueue(threadId, item, { stops: actor('U-rita') });
      expect(copy).toEqual({ outcome: 'duplicate' });
      expect(await store.renewLease(next, MINUTE_MS)).toEqual({ outcome: 'renewed' });
    });

    test('in a message finds nothing to stop where no turn is going on', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const stops = actor('U-rita');
      const enqueued = await store.enqueue(threadId, { id: 'stop', body: {} }, { stops });
      expect(enqueued).toMatchObject({ busy: false, stop: { token: undefined } });
      expect(await takeTurn(store, threadId)).not.toHaveProperty('isStopped');
    });

    const failure = { mostFailures: 3, delayMs: MINUTE_MS, reason: 'no answer', notices: [] };
    test.each<[string, (store: Store, turn: ClaimedTurn) => Promise<unknown>]>([
      ['whose process died', (store, turn) => store.renewLease(turn, 0)],
      ['that failed and waits for its next try', (store, turn) => store.release(turn, failure)],
      ['that was given back', (store, turn) => store.release(turn)],
    ])('reaches a turn %s, in the process that continues it', async (_, interrupt) => {
      const { store } = subject();
      const threadId = newThreadId();
      await interrupt(store, await beginTurn(store, threadId));
      expect(await store.enqueue(threadId, { id: 'later', body: {} })).toMatchObject({ busy: true });
      expect(await store.stop(threadId, actor('U-rita'))).toEqual({ outcome: 'stopping' });
      const stopped = await takeTurn(store, threadId);
      expect(stopped).toMatchObject({
        isStopped: true,
        inbox: [expect.not.objectContaining({ id: 'later' })],
      });
      await suspendTurn(store, stopped);
      const next = await takeTurn(store, threadId);
      expect(next.inbox.map(({ id }) => id)).toEqual(['later']);
      expect(next.isStopped).toBeUndefined();
    });

    test('withdraws what its turn still asks for in the name of who stopped it, and leaves the requests of others open', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const [own, shared, other, unknown] = [
        newRequest(threadId),
        newRequest(threadId, { requester: 'U-otto', requesters: ['U-otto', 'U-rita'] }),
        newRequest(threadId, { requester: 'U-otto' }),
        newRequest(threadId, { unsigned: true }),
      ];
      const turn = await beginTurn(store, threadId);
      for (const who of ['U-ann', 'U-rita']) await store.stop(threadId, actor(who));
      const requests = [own, shared, other, unknown];
      const suspended = await store.suspend(turn, { messages: [], read: 1, requests });
      expect(suspended).toMatchObject({ outcome: 'suspended', waiting: 2, unread: 0 });
      for (const { id } of [own, shared]) {
        expect(await found(store, id)).toMatchObject({ state: 'withdrawn', by: 'U-rita' });
        expect(suspended).toMatchObject({
          withdrawn: expect.arrayContaining([{ requestId: id, by: 'U-rita' }]),
        });
      }
      expect([...(await store.waitingIn(threadId))].sort()).toEqual([other.id, unknown.id].sort());
      expect(await store.vote(own.id, approve('U-ann'))).toMatchObject({ outcome: 'settled' });
      await store.end(other.id, withdrawal('U-otto'));
      await store.resolve(unknown.id, actor('U-ops'), 'ran', 'seen', 1);
      const { settled } = await takeTurn(store, threadId);
      expect(settled).toContainEqual({ requestId: own.id, state: 'withdrawn', by: 'U-rita', payload: '' });
    });

    test('of all that a turn asks for lets the thread go on at once', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      await store.stop(threadId, actor('U-rita'));
      await suspendTurn(store, turn, { requests: [newRequest(threadId)] });
      const due = await store.due({ overdueMs: 0, limit: 1000 });
      expect(due.threads).toContain(threadId);
      expect((await takeTurn(store, threadId)).settled).toMatchObject([{ state: 'withdrawn' }]);
    });

    test('holds for the turn that continues the stopped one, and for nothing that was written after it began', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const first = await beginTurn(store, threadId);
      await store.stop(threadId, actor('U-rita'));
      await store.enqueue(threadId, { id: 'later', body: {} });
      await store.renewLease(first, 0);
      const second = await takeTurn(store, threadId);
      expect(second).toMatchObject({ isStopped: true, inbox: first.inbox });
      expect(await store.renewLease(second, MINUTE_MS)).toEqual({ outcome: 'stopped' });
      const request = newRequest(threadId);
      await suspendTurn(store, second, { requests: [request] });
      expect(await found(store, request.id)).toMatchObject({ state: 'withdrawn', by: 'U-rita' });
      const third = await takeTurn(store, threadId);
      expect(third).toMatchObject({ inbox: [{ id: 'later' }] });
      expect(third).not.toHaveProperty('isStopped');
    });

    test('of a process of an older version names nobody: what the turn asks for stays open', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      const turn = await beginTurn(store, threadId);
      const [thread = ''] = new Keys(prefix).forScript(threadId);
      await client.hset(thread, 'stop', turn.token);
      expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stopped' });
      const request = newRequest(threadId);
      await suspendTurn(store, turn, { requests: [request] });
      expect(await stateOf(store, request.id)).toBe('pending');
    });
  });
}
