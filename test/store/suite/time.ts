import { describe, expect, test } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { TimerKind } from '../../../src/store/port/work.ts';
import { actor, approve, ask, found, MINUTE_MS, newThreadId, stateOf, takeTurn } from '../support.ts';
import type { Subject } from './suite.ts';

const ROW = { id: 'reminder-1', body: { text: 'still waiting' } };

/** Timers of a request; a duration of zero counts as elapsed. */
export function describeTime(subject: () => Subject): void {
  const dueTimers = async (id: string): Promise<TimerKind[]> => {
    const { timers } = await subject().store.due({ overdueMs: 0, limit: 1000 });
    return timers.filter((timer) => timer.id === id).map(({ kind }) => kind);
  };
  const rowIds = async (): Promise<string[]> => {
    const { client, prefix } = subject();
    return client.hkeys(`{${prefix}}:rows`);
  };

  describe('expiry', () => {
    test('ends what nobody decided in time, and the thread goes on', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { expiresInMs: 0 } });
      expect(await dueTimers(id)).toEqual(['expire']);
      expect(await store.end(id, { state: 'expired' })).toEqual({ outcome: 'ended' });
      expect(await stateOf(store, id)).toBe('expired');
      expect(await dueTimers(id)).toEqual([]);
      const { settled } = await takeTurn(store, threadOf(id) ?? '');
      expect(settled).toEqual([{ requestId: id, state: 'expired', by: '', payload: '' }]);
    });

    test('does not come before its time, nor to what was decided', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.end(id, { state: 'expired' })).toEqual({ outcome: 'not-due' });
      await store.vote(id, approve('U-ann'));
      expect(await store.end(id, { state: 'expired' })).toEqual({
        outcome: 'settled',
        state: 'approved',
        by: 'U-ann',
      });
    });

    test('refuses a click that comes before the sweep', async () => {
      const { store } = subject();
      const approval = await ask(store, { policy: { expiresInMs: 0 } });
      expect(await store.vote(approval, approve('U-ann'))).toEqual({ outcome: 'expired' });
      const question = await ask(store, { kind: 'question', policy: { expiresInMs: 0 } });
      expect(await store.answer(question, actor('U-ann'), 'blue')).toEqual({ outcome: 'expired' });
      expect(await stateOf(store, question)).toBe('pending');
    });
  });

  describe('a reminder', () => {
    test('is put into the outbox when it is due, and comes again', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { remindEveryMs: 1 } });
      await expect.poll(() => dueTimers(id)).toEqual(['remind']);
      expect(await store.notify(id, 'remind', { row: ROW })).toEqual({ outcome: 'sent' });
      expect(await rowIds()).toContain(ROW.id);
      await expect.poll(() => dueTimers(id)).toEqual(['remind']);
    });

    test('is not for what is not due or was decided', async () => {
      const { store } = subject();
      const early = await ask(store, { policy: { remindEveryMs: MINUTE_MS } });
      const row = { ...ROW, id: newThreadId() };
      expect(await store.notify(early, 'remind', { row })).toEqual({ outcome: 'not-due' });
      await store.vote(early, approve('U-ann'));
      expect(await store.notify(early, 'remind', { row })).toMatchObject({ outcome: 'settled', by: 'U-ann' });
      expect(await rowIds()).not.toContain(row.id);
    });
  });

  describe('escalation', () => {
    test('lets further people decide, once, and lists the request for them', async () => {
      const { store } = subject();
      const boss = `U-boss-${newThreadId()}`;
      const id = await ask(store, { policy: { escalate: { afterMs: 0, to: [boss] } } });
      expect(await store.list('waiting', [boss], { limit: 5 })).toEqual({ requestIds: [], next: undefined });
      const row = { id: newThreadId(), body: { text: 'please look' } };
      expect(await store.notify(id, 'escalate', { row })).toEqual({ outcome: 'sent' });
      expect((await found(store, id)).principals).toEqual(['U-ann', 'U-ben', boss]);
      expect((await store.list('waiting', [boss], { limit: 5 })).requestIds).toEqual([id]);
      expect(await rowIds()).toContain(row.id);
      expect(await store.notify(id, 'escalate', { row })).toEqual({ outcome: 'not-due' });
      await store.vote(id, approve(boss));
      expect((await store.list('waiting', [boss], { limit: 5 })).requestIds).toEqual([]);
    });

    test('places the cards of the new people in the same step', async () => {
      const { store } = subject();
      const views = [{ id: 'thread', place: { channel: 'C1' } }];
      const id = await ask(store, { views, policy: { escalate: { afterMs: 0, to: ['U-boss'] } } });
      const row = { id: newThreadId(), body: {} };
      const added = [...views, { id: 'to-U-boss', place: { user: 'U-boss' } }];
      expect(await store.notify(id, 'escalate', { row, views: [{ id: 'to U-boss', place: {} }] })).toEqual({
        outcome: 'invalid-view',
      });
      expect(await store.notify(id, 'escalate', { row, views: added })).toEqual({ outcome: 'sent' });
      expect((await found(store, id)).views).toMatchObject(added);
    });

    test('does not come before its time', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { escalate: { afterMs: MINUTE_MS, to: ['U-boss'] } } });
      expect(await store.notify(id, 'escalate', { row: ROW })).toEqual({ outcome: 'not-due' });
      expect((await found(store, id)).principals).toEqual(['U-ann', 'U-ben']);
    });
  });
}
