import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Keys, threadOf } from '../../../src/store/port/keys.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  askAndRetry,
  askAndStart,
  attempt,
  found,
  MINUTE_MS,
  newThreadId,
  outcome,
  resultMessage,
  stateOf,
  takeTurn,
  withdrawal,
} from '../support.ts';
import type { Subject } from './suite.ts';

/** Carrying out what was approved: begun once, finished once, and never silently begun again. */
export function describeRuns(subject: () => Subject): void {
  const dueRuns = async (id: string): Promise<boolean> => {
    return (await subject().store.due({ overdueMs: 0, limit: 1000 })).runs.includes(id);
  };

  const isToRecover = async (id: string): Promise<boolean> => {
    const { timers } = await subject().store.due({ overdueMs: 0, limit: 1000 });
    return timers.some((timer) => timer.kind === 'recover' && timer.id === id);
  };

  describe('a start', () => {
    test('is given to one attempt', async () => {
      const { store } = subject();
      const id = await ask(store);
      await store.vote(id, approve('U-ann'));
      expect(await dueRuns(id)).toBe(true);
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, index) => store.start(id, attempt(`try-${index}`))),
      );
      expect(all.filter((started) => started.outcome === 'started')).toEqual([
        { outcome: 'started', tries: 1 },
      ]);
      expect(all.filter((started) => started.outcome === 'settled')).toHaveLength(7);
      expect(await dueRuns(id)).toBe(false);
    });

    test('needs an approval', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.start(id, attempt('first'))).toEqual({ outcome: 'not-approved', state: 'pending' });
    });

    test('of something that has changed since it was signed supersedes it', async () => {
      const { store } = subject();
      const id = await ask(store);
      await store.vote(id, approve('U-ann'));
      const changed = attempt('first', { digest: 'digest-2' });
      expect(await store.start(id, changed)).toEqual({ outcome: 'superseded', reason: 'changed' });
      expect(await found(store, id)).toMatchObject({ state: 'superseded', attempts: 0, payload: 'changed' });
      expect(await dueRuns(id)).toBe(false);
    });

    test('too long after the last approval supersedes it', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { startWithinMs: 0 } });
      await store.vote(id, approve('U-ann'));
      await sleep(5);
      expect(await store.start(id, attempt('first'))).toEqual({
        outcome: 'superseded',
        reason: 'stale-approval',
      });
      expect(await found(store, id)).toMatchObject({ state: 'superseded', attempts: 0 });
      expect(await dueRuns(id)).toBe(false);
    });

    test('with the vote that completes the quorum is always in time', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { startWithinMs: 0 } });
      const result = await store.vote(id, approve('U-ann'), attempt('first'));
      expect(result).toMatchObject({ outcome: 'voted', started: { outcome: 'started' } });
    });

    test('after a verdict to run it again is in time, counted from the verdict', async () => {
      const { store } = subject();
      const policy = { startWithinMs: 60 * MINUTE_MS };
      const id = await askAndLose(store, { policy });
      const keys = new Keys(subject().prefix);
      await subject().client.hset(keys.ask(id), 'decided_at', '1');
      await subject().client.hset(keys.run(id), 'started_at', '1');
      await store.resolve(id, actor('U-ops'), 'run-again', '');
      expect(await store.start(id, attempt('second'))).toMatchObject({ outcome: 'started', tries: 2 });
    });

    test('without enough people whose signature still counts supersedes it', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { quorum: 2 } });
      await store.vote(id, approve('U-ann'));
      await store.vote(id, approve('U-ben'));
      const left = attempt('first', { stillEligible: ['U-ann', 'U-eve'] });
      expect(await store.start(id, left)).toEqual({ outcome: 'superseded', reason: 'quorum-lost' });
      expect(await stateOf(store, id)).toBe('superseded');
    });
  });

  describe('an attempt', () => {
    test('shows its progress on the first card only, and changes no other', async () => {
      const { store } = subject();
      const views = ['thread', 'dm-ann'].map((view) => ({ id: view, place: { channel: view } }));
      const id = await askAndStart(store, { views });
      const drawAll = async () => {
        const due = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
        const drawn = due.flatMap((item) => (item.kind === 'view' && item.requestId === id ? [item] : []));
        for (const item of drawn)
          await store.done(item, { revision: (await found(store, id)).revision, postedAt: {} });
        return drawn.map(({ viewId }) => viewId);
      };
      expect((await drawAll()).sort()).toEqual(['dm-ann', 'thread']);
      expect(await store.heartbeat(id, 'first', MINUTE_MS)).toEqual({ outcome: 'alive' });
      expect(await drawAll()).toEqual([]);
      expect(await store.heartbeat(id, 'first', MINUTE_MS, '3 of 7')).toEqual({ outcome: 'alive' });
      expect((await found(store, id)).progress).toBe('3 of 7');
      expect(await drawAll()).toEqual(['thread']);
    });

    test('that shows a sign of life is not given up', async () => {
      const { store } = subject();
      const id = await askAndStart(store, {}, { heartbeatTimeoutMs: 0 });
      await store.heartbeat(id, 'first', MINUTE_MS);
      expect(await store.recover(id)).toEqual({ outcome: 'not-due' });
      expect(await stateOf(store, id)).toBe('started');
    });

    test('ends once, whatever it reports afterwards', async () => {
      const { store } = subject();
      const id = await askAndStart(store);
      expect(await store.finish(id, outcome('first', { state: 'failed' }))).toEqual({
        outcome: 'finished',
        state: 'failed',
      });
      expect(await store.finish(id, outcome('first'))).toEqual({ outcome: 'finished', state: 'failed' });
      const { messages } = await takeTurn(store, threadOf(id) ?? '');
      expect(messages).toEqual([resultMessage()]);
    });

    test('that is not the one at work can neither beat nor finish', async () => {
      const { store } = subject();
      const id = await askAndStart(store);
      expect(await store.heartbeat(id, 'other', MINUTE_MS)).toEqual({ outcome: 'lost', state: 'started' });
      expect(await store.finish(id, outcome('other'))).toEqual({ outcome: 'stale', state: 'started' });
      expect(await stateOf(store, id)).toBe('started');
    });
  });

  describe('an attempt that falls silent', () => {
    test('leaves an unknown outcome for people to resolve, and is not due again', async () => {
      const { store } = subject();
      const id = await askAndStart(store, {}, { heartbeatTimeoutMs: 0 });
      expect(await store.recover(id)).toEqual({ outcome: 'unknown-outcome' });
      expect(await stateOf(store, id)).toBe('unknown');
      expect(await dueRuns(id)).toBe(false);
      expect((await store.list('waiting', ['U-ops'], { limit: 1 })).requestIds).toEqual([id]);
      expect(await store.start(id, attempt('second'))).toMatchObject({
        outcome: 'settled',
        state: 'unknown',
      });
      expect(await store.claimTurn(threadOf(id) ?? '', MINUTE_MS)).toMatchObject({ outcome: 'waiting' });
    });

    test('is due until its resolvers are asked, which happens once, with their cards and a notice', async () => {
      const { store } = subject();
      const id = await askAndLose(store);
      expect(await isToRecover(id)).toBe(true);
      expect(await store.recover(id)).toEqual({ outcome: 'still-unknown' });
      const { revision } = await found(store, id);
      const question = { row: { id: newThreadId(), body: {} }, views: [{ id: 'to-U-ops', place: {} }] };
      expect(await store.notify(id, 'recover', { ...question, revision: revision - 1 })).toEqual({
        outcome: 'changed',
      });
      expect((await found(store, id)).views).toEqual([]);
      expect(await store.notify(id, 'recover', { ...question, revision })).toEqual({ outcome: 'sent' });
      expect((await found(store, id)).views).toMatchObject([{ id: 'to-U-ops' }]);
      expect(await isToRecover(id)).toBe(false);
      expect(await store.notify(id, 'recover', { ...question, revision })).toEqual({ outcome: 'not-due' });
      expect(await store.recover(id)).toMatchObject({ outcome: 'settled', state: 'unknown' });
    });

    test('is not due any more when somebody says what became of it before', async () => {
      const { store } = subject();
      const settled = await askAndLose(store);
      await store.resolve(settled, actor('U-ops'), 'ran', 'I looked');
      expect(await isToRecover(settled)).toBe(false);
      const again = await askAndLose(store);
      await store.resolve(again, actor('U-ops'), 'run-again', 'it had not begun');
      expect(await isToRecover(again)).toBe(false);
    });

    test('is believed when it reports after all', async () => {
      const { store } = subject();
      const id = await askAndLose(store);
      expect(await store.finish(id, outcome('first'))).toEqual({ outcome: 'finished', state: 'succeeded' });
      expect((await store.list('waiting', ['U-ops'], { limit: 1000 })).requestIds).not.toContain(id);
      expect((await takeTurn(store, threadOf(id) ?? '')).messages).toEqual([resultMessage()]);
    });

    test.each(['ran', 'did-not-run'] as const)('is settled by a person who says: %s', async (verdict) => {
      const { store } = subject();
      const id = await askAndLose(store);
      const resolved = await store.resolve(id, actor('U-ops'), verdict, 'I looked');
      expect(resolved).toEqual({ outcome: 'resolved', state: 'resolved' });
      const { settled } = await takeTurn(store, threadOf(id) ?? '');
      expect(settled).toEqual([
        { requestId: id, state: 'resolved', by: 'U-ops', payload: `${verdict}\nI looked` },
      ]);
      expect(await store.resolve(id, actor('U-ann'), 'run-again', 'no')).toEqual({
        outcome: 'settled',
        state: 'resolved',
        by: 'U-ops',
      });
      expect(await store.finish(id, outcome('first'))).toEqual({ outcome: 'stale', state: 'resolved' });
      expect((await takeTurnMessages(id)).length).toBe(0);
    });

    test('runs again when a person says so, and its old attempt is no longer believed', async () => {
      const { store } = subject();
      const id = await askAndLose(store);
      expect(await store.resolve(id, actor('U-ops'), 'run-again', 'it had not begun')).toEqual({
        outcome: 'resolved',
        state: 'approved',
      });
      expect(await dueRuns(id)).toBe(true);
      expect(await store.finish(id, outcome('first'))).toEqual({ outcome: 'stale', state: 'approved' });
      expect(await store.start(id, attempt('second', { heartbeatTimeoutMs: 0 }))).toEqual({
        outcome: 'started',
        tries: 2,
      });
      await store.recover(id);
      expect(await store.resolve(id, actor('U-ops'), 'run-again', 'once more')).toEqual({
        outcome: 'resolved',
        state: 'approved',
      });
      expect(await store.start(id, attempt('third'))).toEqual({ outcome: 'started', tries: 3 });
    });

    test('is not resolved by whoever looked after an earlier try', async () => {
      const { store } = subject();
      const id = await askAndLose(store);
      await store.resolve(id, actor('U-ops'), 'run-again', 'it had not begun', 1);
      await store.start(id, attempt('second', { heartbeatTimeoutMs: 0 }));
      await store.recover(id);
      const late = await store.resolve(id, actor('U-eli'), 'run-again', 'it had not begun', 1);
      expect(late).toEqual({ outcome: 'not-as-shown' });
      expect(await stateOf(store, id)).toBe('unknown');
      const now = await store.resolve(id, actor('U-eli'), 'did-not-run', 'I looked again', 2);
      expect(now).toEqual({ outcome: 'resolved', state: 'resolved' });
    });

    test('is not resolved by somebody who may not, nor while it may still be at work', async () => {
      const { store } = subject();
      const lost = await askAndLose(store);
      const stranger = actor('U-eve', { eligible: false });
      expect(await store.resolve(lost, stranger, 'ran', '')).toEqual({ outcome: 'not-eligible' });
      expect(await stateOf(store, lost)).toBe('unknown');
      const alive = await askAndStart(store);
      expect(await store.resolve(alive, actor('U-ops'), 'ran', '')).toEqual({
        outcome: 'not-unknown',
        state: 'started',
      });
    });
  });

  describe('an action that was started before and may not be tried again', () => {
    const refused: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
      ['has changed', (id) => subject().store.start(id, attempt('second', { digest: 'digest-2' }))],
      ['lost its quorum', (id) => subject().store.start(id, attempt('second', { stillEligible: [] }))],
      ['is superseded', (id) => subject().store.end(id, { state: 'superseded', reason: 'not-allowed' })],
    ];
    test.each(refused)('because it %s has an unknown outcome, and people are asked', async (_, refuse) => {
      const { store } = subject();
      const id = await askAndRetry(store);
      expect(await refuse(id)).toMatchObject({ outcome: 'unknown-outcome' });
      expect(await found(store, id)).toMatchObject({ state: 'unknown', attempts: 1 });
      expect(await dueRuns(id)).toBe(false);
      expect(await isToRecover(id)).toBe(true);
      expect((await store.list('waiting', ['U-ops'], { limit: 1000 })).requestIds).toContain(id);
      expect(await store.claimTurn(threadOf(id) ?? '', MINUTE_MS)).toMatchObject({ outcome: 'waiting' });
      expect(await store.resolve(id, actor('U-ops'), 'did-not-run', 'I looked', 1)).toEqual({
        outcome: 'resolved',
        state: 'resolved',
      });
      expect((await store.list('waiting', ['U-ops'], { limit: 1000 })).requestIds).not.toContain(id);
    });

    test('because a new decision to run it went stale has an unknown outcome again', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { startWithinMs: 0 } });
      await store.vote(id, approve('U-ann'), attempt('first', { heartbeatTimeoutMs: 0 }));
      await store.recover(id);
      await store.resolve(id, actor('U-ops'), 'run-again', 'it had not begun');
      await sleep(5);
      const stale = { outcome: 'unknown-outcome', reason: 'stale-approval' };
      expect(await store.start(id, attempt('second'))).toEqual(stale);
      expect(await found(store, id)).toMatchObject({ state: 'unknown', payload: 'stale-approval' });
      // The same person may say the same once more.
      const again = await store.resolve(id, actor('U-ops'), 'run-again', 'once more');
      expect(again).toEqual({ outcome: 'resolved', state: 'approved' });
    });

    test('cannot be withdrawn as one that did not run', async () => {
      const { store } = subject();
      const id = await askAndRetry(store);
      expect(await store.end(id, withdrawal('U-rita', 'stop'))).toMatchObject({
        state: 'approved',
      });
      expect(await store.start(id, attempt('second'))).toEqual({ outcome: 'started', tries: 2 });
    });
  });

  describe('an idempotent action that falls silent', () => {
    test('is due again, as often as it may be tried', async () => {
      const { store } = subject();
      const id = await askAndStart(
        store,
        { execution: { idempotent: true, maxAttempts: 2 } },
        { heartbeatTimeoutMs: 0 },
      );
      expect(await store.recover(id)).toEqual({ outcome: 'retry', tries: 1 });
      expect(await dueRuns(id)).toBe(true);
      expect(await store.finish(id, outcome('first'))).toEqual({ outcome: 'stale', state: 'approved' });
      const again = await store.start(id, attempt('second', { heartbeatTimeoutMs: 0 }));
      expect(again).toEqual({ outcome: 'started', tries: 2 });
      expect(await store.recover(id)).toEqual({ outcome: 'unknown-outcome' });
    });

    test('is not tried again when its first start is too long ago', async () => {
      const { store } = subject();
      const id = await askAndStart(
        store,
        { execution: { idempotent: true, retryForMs: 0 } },
        { heartbeatTimeoutMs: 0 },
      );
      expect(await store.recover(id)).toEqual({ outcome: 'unknown-outcome' });
    });
  });

  async function takeTurnMessages(id: string): Promise<readonly unknown[]> {
    const { client, prefix } = subject();
    const threadId = threadOf(id) ?? '';
    return client.lrange(`{${prefix}}:log:${threadId}`, 0, -1);
  }
}
