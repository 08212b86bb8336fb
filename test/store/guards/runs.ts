import { expect } from 'vitest';
import type { Signature } from '../../../src/store/port.ts';
import {
  approve,
  ask,
  askAndLose,
  askAndStart,
  attempt,
  deed,
  found,
  MINUTE_MS,
  outcome,
  signature,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const NOBODY = 'T-none~none';
const BOTH = { policy: { quorum: 2 } };
const SILENT = { silenceMs: 0 };

async function askAndApprove({ store }: Stage, changes = {}): Promise<string> {
  const requestId = await ask(store, changes);
  await store.vote(requestId, approve('U-ann'));
  await store.vote(requestId, approve('U-ben'));
  return requestId;
}

/** What came of somebody's signature; where more has to be known, nothing may have changed. */
async function signedBy(
  store: Stage['store'],
  requestId: string,
  who: string,
  changes: Partial<Signature> = {},
): Promise<string> {
  const before = await store.load(requestId);
  const result = await store.sign(requestId, signature(who, 'first', changes));
  if (result.outcome === 'look') expect(result.loaded).toEqual(before);
  return result.outcome;
}

/** What may run, how often, and what may be said of it. */
export const runScenarios: Scenarios = {
  'start-unknown': async ({ store }) => {
    expect(await store.start(NOBODY, attempt('first'))).toEqual({ outcome: 'unknown' });
  },
  'start-repeated': async (stage) => {
    const requestId = await askAndApprove(stage);
    expect(await stage.resending.start(requestId, attempt('first'))).toEqual({
      outcome: 'started',
      tries: 1,
    });
  },
  'vote-start-approved': async ({ store }) => {
    const first = await store.voteAndStart(await ask(store, BOTH), approve('U-ann'), attempt('first'));
    expect(first).toEqual({
      outcome: 'voted',
      state: 'pending',
      approvals: 1,
      quorum: 2,
      started: undefined,
    });
  },
  'sign-repeated': async ({ store, resending }) => {
    const requestId = await ask(store);
    const signed = await resending.sign(requestId, signature('U-ann', 'first'));
    const { requester, digest, details } = await found(store, requestId);
    expect(signed).toMatchObject({
      outcome: 'signed',
      request: { id: requestId, requester, digest, details, by: 'U-ann' },
    });
    expect(await found(store, requestId)).toMatchObject({ state: 'started', attempts: 1 });
  },
  'sign-record': async ({ store, client, keys }) => {
    const requestId = await ask(store);
    await client.del(keys.record(requestId));
    const { outcome } = await store.sign(requestId, signature('U-ann', 'first'));
    expect(outcome).toBe('look');
    expect(await client.hget(keys.request(requestId), 'state')).toBe('pending');
  },
  'sign-pending': async ({ store }) => {
    const requestId = await ask(store, { kind: 'question' });
    expect(await signedBy(store, requestId, 'U-ann')).toBe('look');
  },
  'sign-expired': async ({ store }) => {
    const requestId = await ask(store, { policy: { expiresInMs: 0 } });
    expect(await signedBy(store, requestId, 'U-ann')).toBe('look');
  },
  'sign-alone': async ({ store }) => {
    expect(await signedBy(store, await ask(store, BOTH), 'U-ann')).toBe('look');
  },
  'sign-own': async ({ store }) => {
    const requestId = await ask(store, { requester: 'U-ann' });
    expect(await signedBy(store, requestId, 'U-ann')).toBe('look');
  },
  'sign-ground': async ({ store }) => {
    expect(await signedBy(store, await ask(store), 'U-ann', { ground: 'another' })).toBe('look');
  },
  'sign-named': async ({ store }) => {
    expect(await signedBy(store, await ask(store), 'U-eve')).toBe('look');
  },
  'sign-seen': async ({ store }) => {
    const requestId = await ask(store, { views: [{ id: 'thread', place: {} }] });
    expect(await signedBy(store, requestId, 'U-ann', { seenAt: ['in-C9'] })).toBe('look');
    expect(await signedBy(store, requestId, 'U-ann', { seenAt: ['in-C9', 'thread'] })).toBe('signed');
  },
  'start-pending': async ({ store }) => {
    const early = { outcome: 'not-approved', state: 'pending' };
    expect(await store.start(await ask(store), attempt('first'))).toEqual(early);
  },
  'start-settled': async ({ store }) => {
    const taken = { outcome: 'settled', state: 'started', by: 'U-ann' };
    expect(await store.start(await askAndStart(store), attempt('second'))).toEqual(taken);
  },
  'start-digest': async (stage) => {
    const changed = attempt('first', { digest: 'another' });
    const refused = { outcome: 'superseded', reason: 'changed' };
    expect(await stage.store.start(await askAndApprove(stage), changed)).toEqual(refused);
  },
  'start-quorum': async (stage) => {
    const fewer = attempt('first', { stillEligible: ['U-ann'] });
    const refused = { outcome: 'superseded', reason: 'quorum-lost' };
    expect(await stage.store.start(await askAndApprove(stage, BOTH), fewer)).toEqual(refused);
  },
  'start-distinct': async (stage) => {
    const named = attempt('first', { stillEligible: ['U-ann', 'U-ann'] });
    const refused = { outcome: 'superseded', reason: 'quorum-lost' };
    expect(await stage.store.start(await askAndApprove(stage, BOTH), named)).toEqual(refused);
  },

  'beat-lost': async ({ store }) => {
    const requestId = await askAndStart(store);
    const lost = { outcome: 'lost', state: 'started' };
    expect(await store.beat(requestId, 'second', MINUTE_MS)).toEqual(lost);
  },
  'beat-repeated': async ({ resending, store }) => {
    const requestId = await askAndStart(store);
    const { revision } = await found(store, requestId);
    await resending.beat(requestId, 'first', MINUTE_MS, 'half');
    expect(await found(store, requestId)).toMatchObject({ revision: revision + 1, progress: 'half' });
  },

  'finish-unknown': async ({ store }) => {
    expect(await store.finish(NOBODY, outcome('first'))).toEqual({ outcome: 'unknown' });
  },
  'finish-repeated': async ({ resending, store }) => {
    const finished = { outcome: 'finished', state: 'succeeded' };
    expect(await resending.finish(await askAndStart(store), outcome('first'))).toEqual(finished);
  },
  'finish-stale': async ({ store }) => {
    const stale = { outcome: 'stale', state: 'started' };
    expect(await store.finish(await askAndStart(store), outcome('second'))).toEqual(stale);
  },

  'recover-unknown': async ({ store }) => {
    expect(await store.recover(NOBODY)).toEqual({ outcome: 'unknown' });
  },
  'recover-settled': async ({ store }) => {
    const requestId = await askAndStart(store, { execution: { idempotent: true } }, SILENT);
    await store.finish(requestId, outcome('first'));
    const done = { outcome: 'settled', state: 'succeeded', by: 'U-ann' };
    expect(await store.recover(requestId)).toEqual(done);
  },
  'recover-due': async ({ store }) => {
    expect(await store.recover(await askAndStart(store))).toEqual({ outcome: 'not-due' });
  },
  'recover-idempotent': async ({ store }) => {
    const requestId = await askAndStart(store, { execution: { idempotent: false } }, SILENT);
    expect(await store.recover(requestId)).toEqual({ outcome: 'unknown-outcome' });
  },
  'recover-age': async ({ store }) => {
    const requestId = await askAndStart(store, { execution: { idempotent: true, retryForMs: 0 } }, SILENT);
    expect(await store.recover(requestId)).toEqual({ outcome: 'unknown-outcome' });
  },
  'recover-attempts': async ({ store }) => {
    const requestId = await askAndStart(store, { execution: { idempotent: true, maxAttempts: 1 } }, SILENT);
    expect(await store.recover(requestId)).toEqual({ outcome: 'unknown-outcome' });
  },

  'resolve-unknown': async ({ store }) => {
    expect(await store.resolve(NOBODY, deed('U-ops'), 'ran', '')).toEqual({ outcome: 'unknown' });
  },
  'resolve-repeated': async ({ resending, store }) => {
    const resolved = { outcome: 'resolved', state: 'resolved' };
    expect(await resending.resolve(await askAndLose(store), deed('U-ops'), 'ran', '')).toEqual(resolved);
  },
  'resolve-open': async ({ store }) => {
    const known = { outcome: 'not-unknown', state: 'pending' };
    expect(await store.resolve(await ask(store), deed('U-ops'), 'ran', '')).toEqual(known);
  },
  'resolve-settled': async ({ store }) => {
    const requestId = await askAndStart(store);
    await store.finish(requestId, outcome('first'));
    const known = { outcome: 'settled', state: 'succeeded', by: 'U-ann' };
    expect(await store.resolve(requestId, deed('U-ops'), 'run-again', '')).toEqual(known);
  },
  'resolve-shown': async ({ store }) => {
    const requestId = await askAndLose(store);
    expect(await store.resolve(requestId, deed('U-ops'), 'ran', '', 0)).toEqual({ outcome: 'not-as-shown' });
  },
  'resolve-eligible': async ({ store }) => {
    const stranger = deed('U-ann', { eligible: false });
    const requestId = await askAndLose(store);
    expect(await store.resolve(requestId, stranger, 'ran', '')).toEqual({ outcome: 'not-eligible' });
  },
};
