import { expect } from 'vitest';
import type { End } from '../../../src/store/port/values.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { actor, approve, ask, askAndRetry, found, reject, withdrawal } from '../support.ts';
import type { Scenarios } from './stage.ts';

const NOBODY = 'T-none~none';
const QUESTION = { kind: 'question' } as const;
const BOTH = { policy: { quorum: 2, vetoes: 2 } };
const GROUPS = {
  policy: { quorum: 2, groups: ['U-ann', 'U-cid'].map((id) => ({ any: [id], quorum: 1 })) },
};
const ENDS: readonly End[] = [
  withdrawal('U-rita'),
  { state: 'superseded', reason: 'changed' },
  { state: 'failed', reason: 'no channel' },
  { state: 'expired' },
];
const LATE = { policy: { expiresInMs: 0 } };

/** Guards of decisions, and the answers to refused ones. */
export const decisionScenarios: Scenarios = {
  'vote-unknown': async ({ store }) => {
    expect(await store.vote(NOBODY, approve('U-ann'))).toEqual({ outcome: 'unknown' });
  },
  'vote-kind': async ({ store }) => {
    const requestId = await ask(store, QUESTION);
    expect(await store.vote(requestId, approve('U-ann'))).toEqual({ outcome: 'not-an-approval' });
  },
  'vote-repeated': async ({ resending, store }) => {
    const requestId = await ask(store);
    expect(await resending.vote(requestId, approve('U-ann'))).toMatchObject({
      state: 'approved',
      approvals: 1,
    });
  },
  'vote-settled': async ({ store }) => {
    const requestId = await ask(store);
    await store.vote(requestId, reject('U-ann'));
    const late = { outcome: 'settled', state: 'rejected', by: 'U-ann' };
    expect(await store.vote(requestId, approve('U-ben'))).toEqual(late);
  },
  'vote-expired': async ({ store }) => {
    expect(await store.vote(await ask(store, LATE), approve('U-ann'))).toEqual({ outcome: 'expired' });
  },
  'vote-eligible': async ({ store }) => {
    const vote = approve('U-ann', { eligible: false });
    expect(await store.vote(await ask(store), vote)).toEqual({ outcome: 'not-eligible' });
  },
  'vote-own': async ({ store }) => {
    const requesters = ['U-rita', 'U-ann'];
    for (const who of requesters)
      expect(await store.vote(await ask(store, { requesters }), approve(who))).toEqual({
        outcome: 'own-request',
      });
    const requestId = await ask(store, { barred: ['U-ben'], policy: { selfApproval: true } });
    expect(await store.vote(requestId, approve('U-ben'))).toEqual({ outcome: 'own-request' });
    expect(await store.vote(requestId, approve('U-rita'))).toMatchObject({ outcome: 'voted' });
  },
  'refuse-most': async ({ store }) => {
    const requestId = await ask(store);
    for (let click = 1; click <= 25; click += 1)
      expect(
        await store.vote(requestId, approve('U-eve', { eligible: false, evidence: { click: `${click}` } })),
      ).toEqual({ outcome: 'not-eligible' });
    await store.vote(requestId, approve('U-fay', { eligible: false }));
    // One row says that it was asked, 20 are of one person, and one of another.
    expect((await verifyChain(store)).rows).toBe(22);
  },
  'vote-shown': async ({ store }) => {
    const vote = approve('U-ann', { shown: 'another' });
    expect(await store.vote(await ask(store), vote)).toEqual({ outcome: 'not-as-shown' });
  },
  'vote-changed': async ({ store }) => {
    const requestId = await ask(store, BOTH);
    await store.vote(requestId, reject('U-ann'));
    const stands = { outcome: 'already-voted', decision: 'reject' };
    expect(await store.vote(requestId, approve('U-ann'))).toEqual(stands);
  },

  'vote-groups': async ({ store }) => {
    const requestId = await ask(store, GROUPS);
    const state = async (who: string, groups: number[]) =>
      await store.vote(requestId, approve(who, { groups }));
    expect(await state('U-ann', [1])).toMatchObject({ state: 'pending' });
    // A second person of the same group fills no further place.
    expect(await state('U-ben', [1])).toMatchObject({ state: 'pending', approvals: 2 });
    expect(await state('U-cid', [2])).toMatchObject({ state: 'approved' });
  },

  'answer-unknown': async ({ store }) => {
    expect(await store.answer(NOBODY, actor('U-ann'), 'yes')).toEqual({ outcome: 'unknown' });
  },
  'answer-kind': async ({ store }) => {
    expect(await store.answer(await ask(store), actor('U-ann'), 'yes')).toEqual({
      outcome: 'is-an-approval',
    });
  },
  'answer-repeated': async ({ resending, store }) => {
    const requestId = await ask(store, QUESTION);
    expect(await resending.answer(requestId, actor('U-ann'), 'yes')).toEqual({ outcome: 'answered' });
  },
  'answer-settled': async ({ store }) => {
    const requestId = await ask(store, QUESTION);
    await store.answer(requestId, actor('U-ann'), 'yes');
    const late = { outcome: 'settled', state: 'answered', by: 'U-ann' };
    expect(await store.answer(requestId, actor('U-ben'), 'no')).toEqual(late);
  },
  'answer-expired': async ({ store }) => {
    const requestId = await ask(store, { ...QUESTION, ...LATE });
    expect(await store.answer(requestId, actor('U-ann'), 'yes')).toEqual({ outcome: 'expired' });
  },
  'answer-eligible': async ({ store }) => {
    const stranger = actor('U-ann', { eligible: false });
    const requestId = await ask(store, QUESTION);
    expect(await store.answer(requestId, stranger, 'yes')).toEqual({ outcome: 'not-eligible' });
  },
  'answer-own': async ({ store }) => {
    const own = { outcome: 'own-request' };
    const strict = await ask(store, QUESTION);
    expect(await store.answer(strict, actor('U-rita'), 'yes')).toEqual(own);
    expect(await store.answer(strict, actor('U-ann'), 'yes')).toEqual({ outcome: 'answered' });
    const lenient = await ask(store, { ...QUESTION, barred: ['U-ben'], policy: { selfApproval: true } });
    expect(await store.answer(lenient, actor('U-ben'), 'yes')).toEqual(own);
    expect(await store.answer(lenient, actor('U-rita'), 'yes')).toEqual({ outcome: 'answered' });
  },

  'end-unknown': async ({ store }) => {
    expect(await store.end(NOBODY, withdrawal('U-rita'))).toEqual({
      outcome: 'unknown',
    });
  },
  'end-own': async ({ store }) => {
    expect(await store.end(await ask(store), withdrawal('U-ann'))).toEqual({
      outcome: 'not-yours',
    });
  },
  'end-repeated': async ({ resending, store }) => {
    for (const end of ENDS)
      expect(await resending.end(await ask(store, LATE), end)).toEqual({ outcome: 'ended' });
  },
  'end-settled': async ({ store }) => {
    const late = { outcome: 'settled', state: 'rejected', by: 'U-ann' };
    for (const end of ENDS) {
      const requestId = await ask(store);
      await store.vote(requestId, reject('U-ann'));
      expect(await store.end(requestId, end)).toEqual(late);
    }
    // Only a person or a change ends what is approved.
    for (const end of nonEmpty(ENDS.slice(2))) {
      const requestId = await ask(store);
      await store.vote(requestId, approve('U-ann'));
      expect(await store.end(requestId, end)).toMatchObject({ outcome: 'settled', state: 'approved' });
    }
  },
  'end-due': async ({ store }) => {
    expect(await store.end(await ask(store), { state: 'expired' })).toEqual({ outcome: 'not-due' });
  },
  'end-withdrawn-tried': async ({ store }) => {
    const requestId = await askAndRetry(store);
    const tried = { outcome: 'settled', state: 'approved', by: 'U-ann' };
    expect(await store.end(requestId, withdrawal('U-rita'))).toEqual(tried);
  },

  'end-asked': async ({ resending, store }) => {
    const requestId = await askAndRetry(store);
    expect(await resending.end(requestId, { state: 'superseded', reason: 'not-allowed' })).toEqual({
      outcome: 'unknown-outcome',
    });
  },
  'end-tried': async ({ store }) => {
    const requestId = await askAndRetry(store);
    expect(await store.end(requestId, { state: 'superseded', reason: 'not-allowed' })).toEqual({
      outcome: 'unknown-outcome',
    });
    const asked = { state: 'unknown', attempts: 1, payload: 'not-allowed' };
    expect(await found(store, requestId)).toMatchObject(asked);
  },
};
