import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import { snapshotOf } from '../records-snapshot.ts';
import {
  actor,
  approve,
  ask,
  attempt,
  beginTurn,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  outcome,
  type RequestChanges,
  reject,
  withdrawal,
} from '../support.ts';
import type { Subject } from './suite.ts';

const ROW = { id: 'row-of-nothing', body: {} };
const NOTHING = { outcome: 'unknown' };
const VERBS: Readonly<Record<string, (store: Store, id: string) => Promise<unknown>>> = {
  load: (store, id) => store.load(id),
  vote: (store, id) => store.vote(id, approve('U-ann')),
  answer: (store, id) => store.answer(id, actor('U-ann'), 'blue'),
  end: (store, id) => store.end(id, withdrawal('U-rita')),
  start: (store, id) => store.start(id, attempt('first')),
  finish: (store, id) => store.finish(id, outcome('first')),
  redraw: (store, id) => store.redraw(id, { views: [{ id: 'thread', place: {} }] }),
  resolve: (store, id) => store.resolve(id, actor('U-ops'), 'ran', ''),
  recover: (store, id) => store.recover(id),
  notify: (store, id) => store.notify(id, 'recover', { row: ROW, views: [], revision: 1 }),
  purge: (store, id) => store.purge(id),
};
const NO_IDS = [
  '',
  '~',
  'T-1',
  'T-1~',
  '~a',
  'T 1~a',
  'T-1~a b',
  'T-1~a~b',
  'T-{1}~a',
  `${'T'.repeat(201)}~a`,
  'T-1~a\n',
];

/** Bad input is a code and changes nothing. */
export function describeBadInput(subject: () => Subject): void {
  const expectNoChange = async (act: () => Promise<void>): Promise<void> => {
    const { client, prefix } = subject();
    const before = await snapshotOf(client, prefix);
    await act();
    expect(await snapshotOf(client, prefix)).toEqual(before);
  };

  describe('bad input', () => {
    test.each(Object.keys(VERBS))('%s of an id that nothing has is unknown', async (name) => {
      const { store } = subject();
      await expectNoChange(async () => {
        for (const id of [`${newThreadId()}~none`, ...NO_IDS])
          expect(await VERBS[name]?.(store, id), id).toEqual(NOTHING);
      });
    });

    test('a sign of life for nothing is lost', async () => {
      const { store } = subject();
      await expectNoChange(async () => {
        for (const id of [`${newThreadId()}~none`, ...NO_IDS])
          expect(await store.heartbeat(id, 'first', 1), id).toEqual({ outcome: 'lost', state: '' });
      });
    });

    test.each(['', 'T 1', 'T{1}', 'T~1', 'T\n1', 'é', 'T'.repeat(201)])(
      'the thread id %j is none',
      async (id) => {
        const { store } = subject();
        await expectNoChange(async () => {
          expect(await store.enqueue(id, { id: 'a', body: {} })).toEqual({ outcome: 'invalid-thread' });
          expect(await store.claimTurn(id, MINUTE_MS)).toEqual({ outcome: 'invalid-thread' });
          expect(await store.stop(id, actor('U-rita'))).toEqual({ outcome: 'idle' });
          expect(await store.waitingIn(id)).toEqual([]);
          expect(await store.readThread(id)).toEqual({ messages: [], inbox: [], seen: [] });
        });
      },
    );

    test('a person with no possible id may do nothing', async () => {
      const { store } = subject();
      const [approval, question] = [await ask(store), await ask(store, { kind: 'question' })];
      await expectNoChange(async () => {
        for (const who of ['', 'U ann', 'U-ann\n', 'é']) {
          expect(await store.vote(approval, approve(who))).toEqual({ outcome: 'not-eligible' });
          expect(await store.answer(question, actor(who), 1)).toEqual({ outcome: 'not-eligible' });
          expect(await store.resolve(approval, actor(who), 'ran', '')).toEqual({ outcome: 'not-eligible' });
          expect(await store.end(approval, withdrawal(who))).toEqual({
            outcome: 'not-yours',
          });
        }
      });
    });

    test('a card cannot stand at a place with no possible id', async () => {
      const { store } = subject();
      const requestId = await ask(store);
      const good = { id: 'thread', place: {} };
      await expectNoChange(async () => {
        for (const id of ['', 'a b', 'a|b', 'a\nb'])
          expect(await store.redraw(requestId, { views: [good, { id, place: {} }] })).toEqual({
            outcome: 'invalid-view',
          });
      });
    });

    test('a stale token writes nothing', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const turn = { ...(await beginTurn(store, threadId)), token: '0' };
      await expectNoChange(async () => {
        const end = { messages: [message('forged')], read: 1, requests: [newRequest(threadId)] };
        expect(await store.suspend(turn, end)).toEqual({ outcome: 'stale' });
        expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stale' });
      });
    });

    test('a turn cannot open a request of another thread', async () => {
      const { store } = subject();
      const [threadId, foreign] = [newThreadId(), newRequest(newThreadId())];
      const turn = await beginTurn(store, threadId);
      await expectNoChange(async () => {
        const end = { messages: [message('hello')], read: 1, requests: [newRequest(threadId), foreign] };
        const refused = { outcome: 'foreign-request', requestId: foreign.id };
        expect(await store.suspend(turn, end)).toEqual(refused);
      });
    });

    test('a turn cannot open a request twice, nor one that is on record', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const request = newRequest(threadId);
      const turn = await beginTurn(store, threadId);
      await expectNoChange(async () => {
        const end = { messages: [message('hello')], read: 1, requests: [request, request] };
        const refused = { outcome: 'existing-request', requestId: request.id };
        expect(await store.suspend(turn, end)).toEqual(refused);
      });
      await store.suspend(turn, { messages: [], read: 1, requests: [request] });
      await store.vote(request.id, reject('U-ann'));
      const next = await beginTurn(store, threadId);
      await expectNoChange(async () => {
        const end = { messages: [message('hello')], read: 1, requests: [request] };
        const refused = { outcome: 'existing-request', requestId: request.id };
        expect(await store.suspend(next, end)).toEqual(refused);
      });
    });

    test.each<[string, RequestChanges]>([
      ['a quorum of nobody', { policy: { quorum: 0 } }],
      ['a time that is no number', { policy: { expiresInMs: Number.NaN } }],
      ['an approver with no possible id', { policy: { principals: ['U ann'] } }],
      ['a resolver with no possible id', { policy: { resolvers: [''] } }],
      ['nobody possible to escalate to', { policy: { escalate: { afterMs: 1, to: ['a\nb'] } } }],
      ['a requester with no possible id', { requester: 'U rita' }],
      ['a view with no possible id', { views: [{ id: 'a|b', place: {} }] }],
      ['half a try', { execution: { maxAttempts: 0.5 } }],
    ])('a turn cannot open a request with %s', async (_name, changes) => {
      const { store } = subject();
      const threadId = newThreadId();
      const request = newRequest(threadId, changes);
      const turn = await beginTurn(store, threadId);
      await expectNoChange(async () => {
        const end = { messages: [message('hello')], read: 1, requests: [newRequest(threadId), request] };
        const refused = await store.suspend(turn, end);
        expect(refused).toMatchObject({ outcome: 'invalid-request', requestId: request.id });
      });
    });
  });
}
