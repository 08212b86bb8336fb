import { describe, expect, test } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import {
  actor,
  approve,
  ask,
  askAndStart,
  attempt,
  found,
  reject,
  stateOf,
  takeTurn,
  withdrawal,
} from '../support.ts';
import type { Subject } from './suite.ts';

/** Decisions of people, and the answers to those who may not decide or are late. */
export function describeDecisions(subject: () => Subject): void {
  describe('a vote', () => {
    test('of enough distinct people approves, and one person counts once', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { quorum: 2 } });
      const first = { outcome: 'voted', state: 'pending', approvals: 1, quorum: 2 };
      expect(await store.vote(id, approve('U-ann'))).toEqual(first);
      expect(await store.vote(id, approve('U-ann'))).toEqual(first);
      expect(await stateOf(store, id)).toBe('pending');
      expect(await store.vote(id, approve('U-ben'))).toEqual({
        outcome: 'voted',
        state: 'approved',
        approvals: 2,
        quorum: 2,
      });
      const { votes, approvals } = await found(store, id);
      expect(votes.map(({ who, decision }) => `${who} ${decision}`).sort()).toEqual([
        'U-ann approve',
        'U-ben approve',
      ]);
      expect(approvals).toBe(2);
    });

    test('against it, one veto of two, fills no place of an approver group', async () => {
      const { store } = subject();
      const groups = [
        { any: ['U-ann'], quorum: 1 },
        { any: ['U-cid'], quorum: 1 },
      ];
      const id = await ask(store, { policy: { quorum: 2, vetoes: 2, groups } });
      await store.vote(id, approve('U-ann', { groups: [1] }));
      await store.vote(id, approve('U-ben', { groups: [1] }));
      expect(await store.vote(id, reject('U-cid', { groups: [2] }))).toMatchObject({ state: 'pending' });
      expect(await stateOf(store, id)).toBe('pending');
    });

    test('against it ends it at once where one veto is enough, whatever was signed before', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { quorum: 2 } });
      await store.vote(id, approve('U-ann'));
      expect(await store.vote(id, reject('U-ben'))).toMatchObject({ outcome: 'voted', state: 'rejected' });
      expect(await found(store, id)).toMatchObject({ state: 'rejected', by: 'U-ben', payload: 'not today' });
    });

    test('against it waits for the others where the policy asks for more vetoes', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { quorum: 2, vetoes: 2 } });
      expect(await store.vote(id, reject('U-ann'))).toMatchObject({ state: 'pending', approvals: 0 });
      expect(await store.vote(id, reject('U-ben'))).toMatchObject({ state: 'rejected' });
    });

    test('may change from approve to reject and no longer counts as a signature', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { quorum: 2, vetoes: 2 } });
      await store.vote(id, approve('U-ann'));
      expect(await store.vote(id, reject('U-ann'))).toMatchObject({ state: 'pending', approvals: 0 });
      expect(await store.vote(id, approve('U-ben'))).toMatchObject({ state: 'pending', approvals: 1 });
      expect(await found(store, id)).toMatchObject({ approvals: 1, rejections: 1 });
    });

    test('may not change from reject to approve', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { vetoes: 2 } });
      await store.vote(id, reject('U-ann'));
      const again = await store.vote(id, approve('U-ann'));
      expect(again).toEqual({ outcome: 'already-voted', decision: 'reject' });
      expect(await stateOf(store, id)).toBe('pending');
    });

    test('on one’s own request counts only where the policy says so', async () => {
      const { store } = subject();
      const strict = await ask(store);
      expect(await store.vote(strict, approve('U-rita'))).toEqual({ outcome: 'own-request' });
      expect(await stateOf(store, strict)).toBe('pending');
      const lenient = await ask(store, { policy: { selfApproval: true } });
      expect(await store.vote(lenient, approve('U-rita'))).toMatchObject({ state: 'approved' });
    });

    test('by somebody who may not sign is refused', async () => {
      const { store } = subject();
      const id = await ask(store);
      const stranger = approve('U-eve', { eligible: false });
      expect(await store.vote(id, stranger)).toEqual({ outcome: 'not-eligible' });
      expect(await found(store, id)).toMatchObject({ state: 'pending', votes: [] });
    });

    test('on something other than what is on record is refused', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.vote(id, approve('U-ann', { shown: 'digest-0' }))).toEqual({
        outcome: 'not-as-shown',
      });
      expect(await stateOf(store, id)).toBe('pending');
    });

    test('that comes too late is told who won', async () => {
      const { store } = subject();
      const approved = await ask(store);
      await store.vote(approved, approve('U-ann'));
      const late = { outcome: 'settled', state: 'approved', by: 'U-ann' };
      expect(await store.vote(approved, reject('U-ben'))).toEqual(late);
      const rejected = await ask(store);
      await store.vote(rejected, reject('U-ben'));
      expect(await store.vote(rejected, approve('U-ann'))).toEqual({
        outcome: 'settled',
        state: 'rejected',
        by: 'U-ben',
      });
    });

    test('is no way to answer a question, nor an answer a way to approve', async () => {
      const { store } = subject();
      const question = await ask(store, { kind: 'question' });
      expect(await store.vote(question, approve('U-ann'))).toEqual({ outcome: 'not-an-approval' });
      const approval = await ask(store);
      expect(await store.answer(approval, actor('U-ann'), 'yes')).toEqual({ outcome: 'is-an-approval' });
      expect(await stateOf(store, approval)).toBe('pending');
    });
  });

  describe('an answer', () => {
    test.each([0, '', false, null, { city: 'Oslo' }])('of %j is kept as it was given', async (value) => {
      const { store } = subject();
      const id = await ask(store, { kind: 'form' });
      expect(await store.answer(id, actor('U-ann'), value)).toEqual({ outcome: 'answered' });
      const { state, by, payload = '' } = await found(store, id);
      expect({ state, by, value: JSON.parse(payload) }).toEqual({ state: 'answered', by: 'U-ann', value });
    });

    test('is taken once; the next person is told who gave it', async () => {
      const { store } = subject();
      const id = await ask(store, { kind: 'question' });
      await store.answer(id, actor('U-ann'), 'blue');
      const late = { outcome: 'settled', state: 'answered', by: 'U-ann' };
      expect(await store.answer(id, actor('U-ben'), 'red')).toEqual(late);
      expect(await store.answer(id, actor('U-ann'), 'red')).toEqual(late);
      expect((await found(store, id)).payload).toBe('"blue"');
    });

    test('by somebody who was not asked is refused', async () => {
      const { store } = subject();
      const id = await ask(store, { kind: 'question' });
      expect(await store.answer(id, actor('U-eve', { eligible: false }), 'red')).toEqual({
        outcome: 'not-eligible',
      });
      expect(await stateOf(store, id)).toBe('pending');
    });
  });

  describe('a withdrawal', () => {
    test('is for the requester alone', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.end(id, withdrawal('U-ann', 'no'))).toEqual({
        outcome: 'not-yours',
      });
      expect(await stateOf(store, id)).toBe('pending');
      expect(await store.end(id, withdrawal('U-rita', 'a mistake'))).toEqual({
        outcome: 'ended',
      });
      expect(await found(store, id)).toMatchObject({ state: 'withdrawn', payload: 'a mistake' });
      expect(await store.vote(id, approve('U-ann'))).toEqual({
        outcome: 'settled',
        state: 'withdrawn',
        by: 'U-rita',
      });
    });

    test('still stops what was approved, but not what has begun', async () => {
      const { store } = subject();
      const approved = await ask(store);
      await store.vote(approved, approve('U-ann'));
      expect(await store.end(approved, withdrawal('U-rita', 'stop'))).toEqual({
        outcome: 'ended',
      });
      const stopped = { outcome: 'settled', state: 'withdrawn', by: 'U-rita' };
      expect(await store.start(approved, attempt('first'))).toEqual(stopped);
      const begun = await askAndStart(store);
      expect(await store.end(begun, withdrawal('U-rita', 'stop'))).toMatchObject({ state: 'started' });
      expect(await stateOf(store, begun)).toBe('started');
    });
  });

  describe('giving a request up that nobody can be shown', () => {
    test('fails it with the reason, and the thread goes on', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.end(id, { state: 'failed', reason: 'no channel' })).toEqual({ outcome: 'ended' });
      const failed = { outcome: 'settled', state: 'failed', by: '' };
      expect(await store.vote(id, approve('U-ann'))).toEqual(failed);
      const { settled } = await takeTurn(store, threadOf(id) ?? '');
      expect(settled).toEqual([{ requestId: id, state: 'failed', by: '', payload: 'no channel' }]);
    });

    test('leaves what was decided alone', async () => {
      const { store } = subject();
      const id = await ask(store);
      await store.vote(id, approve('U-ann'));
      const decided = { outcome: 'settled', state: 'approved', by: 'U-ann' };
      expect(await store.end(id, { state: 'failed', reason: 'no channel' })).toEqual(decided);
      expect(await stateOf(store, id)).toBe('approved');
    });
  });

  describe('superseding', () => {
    test('ends what has not begun and tells a late click', async () => {
      const { store } = subject();
      const id = await ask(store);
      expect(await store.end(id, { state: 'superseded', reason: 'the policy changed' })).toEqual({
        outcome: 'ended',
      });
      expect(await found(store, id)).toMatchObject({ state: 'superseded', payload: 'the policy changed' });
      expect(await store.vote(id, approve('U-ann'))).toMatchObject({ state: 'superseded' });
    });

    test('leaves what has begun alone', async () => {
      const { store } = subject();
      const id = await askAndStart(store);
      expect(await store.end(id, { state: 'superseded', reason: 'late' })).toMatchObject({
        outcome: 'settled',
        state: 'started',
      });
      expect(await stateOf(store, id)).toBe('started');
    });
  });
}
