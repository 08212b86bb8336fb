import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { ClaimedTurn } from '../../../src/store/port/values.ts';
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
  newRun,
  openAndReject,
  outcome,
  reject,
  suspendTurn,
  takeTurn,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const NOBODY = 'T-none~none';
const BOTH = { policy: { quorum: 2 } };
const QUESTION = { row: { id: 'row', body: {} }, views: [] };
const SILENT = { heartbeatTimeoutMs: 0 };

async function askAndApprove({ store }: Stage, changes = {}): Promise<string> {
  const requestId = await ask(store, changes);
  await store.vote(requestId, approve('U-ann'));
  await store.vote(requestId, approve('U-ben'));
  return requestId;
}

/** Opens a request of two approver groups, and has it approved by two people for these groups. */
async function askGroups(store: Store, ann: number[], ben: number[]): Promise<string> {
  const groups = ['S-one', 'S-two'].map((id) => ({ any: [id], quorum: 1 }));
  const requestId = await ask(store, { policy: { quorum: 2, groups } });
  await store.vote(requestId, approve('U-ann', { groups: ann }));
  await store.vote(requestId, approve('U-ben', { groups: ben }));
  return requestId;
}

const DONE = { state: 'succeeded', summary: 'done' } as const;

/** Starts an action that pauses, and takes the turn that continues it. */
async function askAndPause(store: Store): Promise<{ requestId: string; turn: ClaimedTurn }> {
  const requestId = await askAndStart(store);
  await store.finish(requestId, outcome('first', { state: 'paused' }));
  return { requestId, turn: await takeTurn(store, threadOf(requestId) ?? '') };
}

/** Guards of starts, attempts and outcomes. */
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
    const first = await store.vote(await ask(store, BOTH), approve('U-ann'), attempt('first'));
    expect(first).toEqual({
      outcome: 'voted',
      state: 'pending',
      approvals: 1,
      quorum: 2,
      started: undefined,
    });
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
    // A vote that chooses and starts in one step is bound to what it chose.
    const vote = approve('U-ann', { chosen: { steps: [2], digest: 'digest-2' } });
    const chosen = attempt('first', { digest: 'digest-2' });
    expect(await stage.store.vote(await ask(stage.store), vote, chosen)).toMatchObject({
      started: { outcome: 'started' },
    });
  },
  'start-quorum': async (stage) => {
    const fewer = attempt('first', { stillEligible: ['U-ann'] });
    const refused = { outcome: 'superseded', reason: 'quorum-lost' };
    expect(await stage.store.start(await askAndApprove(stage, BOTH), fewer)).toEqual(refused);
  },
  'start-groups': async ({ store }) => {
    // Of two who approved for both groups, one has left the second, and the other was never in it.
    const requestId = await askGroups(store, [1], [1, 2]);
    const left = attempt('first', { groups: { 'U-ann': [1], 'U-ben': [1] } });
    expect(await store.start(requestId, left)).toEqual({ outcome: 'superseded', reason: 'quorum-lost' });
    const same = attempt('first', { groups: { 'U-ann': [1], 'U-ben': [1, 2] } });
    expect(await store.start(await askGroups(store, [1], [1, 2]), same)).toMatchObject({
      outcome: 'started',
    });
  },
  'start-voted-for': async ({ store }) => {
    const requestId = await askGroups(store, [1], [2]);
    const swapped = attempt('first', { groups: { 'U-ann': [2], 'U-ben': [1] } });
    expect(await store.start(requestId, swapped)).toEqual({ outcome: 'superseded', reason: 'quorum-lost' });
  },
  'start-stale': async (stage) => {
    const requestId = await askAndApprove(stage, { policy: { startWithinMs: 0 } });
    await sleep(5);
    const refused = { outcome: 'superseded', reason: 'stale-approval' };
    expect(await stage.store.start(requestId, attempt('first'))).toEqual(refused);
  },
  'start-tried': async ({ store }) => {
    const changes = { policy: { startWithinMs: 0 }, execution: { idempotent: true } };
    const requestId = await ask(store, changes);
    await store.vote(requestId, approve('U-ann'), attempt('first', SILENT));
    expect(await store.recover(requestId)).toMatchObject({ outcome: 'retry' });
    await sleep(5);
    expect(await store.start(requestId, attempt('second'))).toMatchObject({ outcome: 'started', tries: 2 });
  },
  'start-elsewhere': async ({ store }) => {
    const requestId = await ask(store, {
      execution: { elsewhere: true },
      policy: { startWithinMs: MINUTE_MS },
    });
    const elsewhere = { outcome: 'elsewhere' };
    const voted = await store.vote(requestId, approve('U-ann'), attempt('first'));
    expect(voted).toMatchObject({ outcome: 'voted', state: 'approved', started: elsewhere });
    expect(await store.start(requestId, attempt('second'))).toEqual(elsewhere);
    expect(await store.start(requestId, attempt('third', { elsewhere: true }))).toMatchObject({
      outcome: 'started',
    });
  },
  'start-attempted': async ({ store }) => {
    const requestId = await askAndRetry(store);
    const changed = attempt('second', { digest: 'another' });
    const asked = { outcome: 'unknown-outcome', reason: 'changed' };
    expect(await store.start(requestId, changed)).toEqual(asked);
    expect(await found(store, requestId)).toMatchObject({
      state: 'unknown',
      attempts: 1,
      payload: 'changed',
    });
  },
  'start-distinct': async (stage) => {
    const named = attempt('first', { stillEligible: ['U-ann', 'U-ann'] });
    const refused = { outcome: 'superseded', reason: 'quorum-lost' };
    expect(await stage.store.start(await askAndApprove(stage, BOTH), named)).toEqual(refused);
  },

  'start-own': async (stage) => {
    const requestId = await askAndApprove(stage);
    await stage.client.hset(stage.keys.ask(requestId), 'requesters', 'U-rita U-ann U-ben');
    const refused = { outcome: 'superseded', reason: 'quorum-lost' };
    expect(await stage.store.start(requestId, attempt('first'))).toEqual(refused);
  },

  'open-repeated': async ({ resending, store }) => {
    const run = newRun();
    expect(await resending.open(run)).toEqual({ outcome: 'opened' });
    await store.vote(run.id, reject('U-ann'));
    // Another process that comes late opens nothing.
    expect(await store.open(run)).toEqual({ outcome: 'opened' });
    expect(await found(store, run.id)).toMatchObject({ state: 'rejected', from: 'manifest' });
  },
  'open-former': async ({ store }) => {
    const [former, next] = [await openAndReject(store), newRun()];
    await store.notify(former, 'ended', {});
    expect(await store.open(next, former)).toEqual({ outcome: 'not-due' });
    expect(await store.load(next.id)).toEqual({ outcome: 'unknown' });
  },
  'settle-from': async ({ store, client, keys }) => {
    const run = newRun();
    await store.open(run);
    await store.vote(run.id, approve('U-ann'), attempt('first'));
    await store.finish(run.id, outcome('first'), MINUTE_MS);
    const timers = await client.zrange(keys.shared('timers'), '0', '-1');
    expect(timers.toSorted()).toEqual([`ended|${run.id}`, `purge|${run.id}`]);
    const [threadId = ''] = run.id.split('~');
    expect(await client.exists(keys.thread(threadId), keys.log(threadId), keys.round(threadId))).toBe(0);
  },

  'heartbeat-lost': async ({ store }) => {
    const requestId = await askAndStart(store);
    const lost = { outcome: 'lost', state: 'started' };
    expect(await store.heartbeat(requestId, 'second', MINUTE_MS)).toEqual(lost);
  },
  'heartbeat-repeated': async ({ store }) => {
    const views = [{ id: 'thread', place: { channel: 'C1' } }];
    const requestId = await askAndStart(store, { views });
    const claim = () => store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
    const drawAll = async () => {
      const due = (await claim()).flatMap((item) =>
        item.kind === 'view' && item.requestId === requestId ? [item] : [],
      );
      for (const item of due)
        await store.done(item, { revision: (await found(store, requestId)).revision, postedAt: {} });
      return due.length;
    };
    await store.heartbeat(requestId, 'first', MINUTE_MS, 'half');
    expect(await drawAll()).toBe(1);
    await store.heartbeat(requestId, 'first', MINUTE_MS, 'half');
    expect(await drawAll()).toBe(0);
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

  'finish-continued-repeated': async ({ resending, store }) => {
    const { requestId, turn } = await askAndPause(store);
    const done = { outcome: 'finished', state: 'succeeded' };
    expect(await resending.finish(requestId, { turn, ...DONE })).toEqual(done);
  },
  'finish-continued': async ({ store }) => {
    const { requestId, turn } = await askAndPause(store);
    await store.finish(requestId, { turn, ...DONE });
    const done = { outcome: 'settled', state: 'succeeded', by: 'U-ann' };
    expect(await store.finish(requestId, { turn, state: 'failed', summary: 'no' })).toEqual(done);
  },
  'finish-continued-turn': async ({ store }) => {
    const { requestId, turn } = await askAndPause(store);
    await suspendTurn(store, turn);
    const stale = { outcome: 'stale', state: 'paused' };
    expect(await store.finish(requestId, { turn, ...DONE })).toEqual(stale);
    expect((await found(store, requestId)).state).toBe('paused');
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
  'recover-unasked': async ({ store }) => {
    expect(await store.recover(await askAndLose(store))).toEqual({ outcome: 'still-unknown' });
  },
  'notify-settled': async ({ store }) => {
    const requestId = await askAndStart(store, {}, { heartbeatTimeoutMs: 0 });
    const { revision } = await found(store, requestId);
    const started = { outcome: 'settled', state: 'started', by: 'U-ann' };
    expect(await store.notify(requestId, 'recover', { ...QUESTION, revision })).toEqual(started);
    // The timer of an attempt stays.
    expect(await store.recover(requestId)).toEqual({ outcome: 'unknown-outcome' });
    for (const timer of ['remind', 'escalate'] as const) {
      const rejected = await ask(store);
      await store.vote(rejected, reject('U-ann'));
      const late = { outcome: 'settled', state: 'rejected', by: 'U-ann' };
      expect(await store.notify(rejected, timer, QUESTION)).toEqual(late);
    }
  },
  'notify-changed': async ({ store }) => {
    const requestId = await askAndLose(store);
    const { revision } = await found(store, requestId);
    expect(await store.notify(requestId, 'recover', { ...QUESTION, revision: revision - 1 })).toEqual({
      outcome: 'changed',
    });
    expect(await store.recover(requestId)).toEqual({ outcome: 'still-unknown' });
  },
  'recover-own': async ({ store }) => {
    const requestId = await askAndStart(store);
    const other = { attempt: 'another', reason: 'it threw' };
    expect(await store.recover(requestId, other)).toEqual({ outcome: 'not-due' });
    expect(await store.recover(requestId, { ...other, attempt: 'first' })).toEqual({
      outcome: 'unknown-outcome',
    });
    expect(await found(store, requestId)).toMatchObject({ state: 'unknown', payload: 'it threw' });
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
    expect(await store.resolve(NOBODY, actor('U-ops'), 'ran', '')).toEqual({ outcome: 'unknown' });
  },
  'resolve-repeated': async ({ resending, store }) => {
    const resolved = { outcome: 'resolved', state: 'resolved' };
    expect(await resending.resolve(await askAndLose(store), actor('U-ops'), 'ran', '')).toEqual(resolved);
  },
  'resolve-open': async ({ store }) => {
    const known = { outcome: 'not-unknown', state: 'pending' };
    expect(await store.resolve(await ask(store), actor('U-ops'), 'ran', '')).toEqual(known);
  },
  'resolve-settled': async ({ store }) => {
    const requestId = await askAndStart(store);
    await store.finish(requestId, outcome('first'));
    const known = { outcome: 'settled', state: 'succeeded', by: 'U-ann' };
    expect(await store.resolve(requestId, actor('U-ops'), 'run-again', '')).toEqual(known);
  },
  'resolve-shown': async ({ store }) => {
    const requestId = await askAndLose(store);
    expect(await store.resolve(requestId, actor('U-ops'), 'ran', '', 0)).toEqual({ outcome: 'not-as-shown' });
  },
  'resolve-own': async ({ store }) => {
    const requestId = await askAndLose(store, { requesters: ['U-rita', 'U-ops'] });
    const own = { outcome: 'own-request' };
    expect(await store.resolve(requestId, actor('U-ops'), 'run-again', '')).toEqual(own);
    expect(await store.resolve(requestId, actor('U-ops'), 'did-not-run', '')).toMatchObject({
      outcome: 'resolved',
    });
  },
  'resolve-terms': async ({ store }) => {
    const requestId = await ask(store, BOTH);
    await store.vote(requestId, approve('U-ann'));
    await store.vote(requestId, approve('U-ben'), attempt('first', SILENT));
    await store.recover(requestId);
    const refused = { outcome: 'not-eligible' };
    expect(await store.resolve(requestId, actor('U-ops'), 'run-again', '')).toEqual(refused);
  },
  'resolve-elsewhere': async ({ store }) => {
    const requestId = await ask(store, { execution: { elsewhere: true } });
    await store.vote(requestId, approve('U-ann'));
    await store.start(requestId, attempt('first', { ...SILENT, elsewhere: true }));
    expect(await store.recover(requestId)).toEqual({ outcome: 'unknown-outcome' });
    const refused = { outcome: 'not-eligible' };
    expect(await store.resolve(requestId, actor('U-ops'), 'run-again', '')).toEqual(refused);
  },
  'resolve-eligible': async ({ store }) => {
    const stranger = actor('U-ann', { eligible: false });
    const requestId = await askAndLose(store);
    expect(await store.resolve(requestId, stranger, 'ran', '')).toEqual({ outcome: 'not-eligible' });
  },
};
