import { expect } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import {
  approve,
  ask,
  askAndStart,
  attempt,
  beginTurn,
  effectStart,
  found,
  newFreeze,
  newThreadId,
  outcome,
  unfreezeVote,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

async function freezeAll(store: Store, scope = '*'): Promise<void> {
  await store.freeze(newFreeze(scope));
}

async function askAndHold({ store }: Stage): Promise<string> {
  const requestId = await ask(store);
  await freezeAll(store);
  await store.vote(requestId, approve('U-ann'), attempt('first'));
  return requestId;
}

async function eventsOf(store: Store, event: string): Promise<number> {
  let count = 0;
  for await (const row of store.exportAudit()) if (row.event === event) count += 1;
  return count;
}

/** Guards of freezes, and of the starts that meet one. */
export const freezeScenarios: Scenarios = {
  'start-frozen': async ({ store }) => {
    const requestId = await ask(store);
    await freezeAll(store, 'refund_order');
    await store.vote(requestId, approve('U-ann'));
    expect(await store.start(requestId, attempt('first', { tool: 'another' }))).toMatchObject({
      outcome: 'started',
    });
    const other = await ask(store);
    await store.vote(other, approve('U-ann'));
    expect(await store.start(other, attempt('first'))).toEqual({ outcome: 'frozen' });
    expect(await found(store, other)).toMatchObject({ state: 'approved', attempts: 0 });
    const turn = await beginTurn(store, newThreadId());
    expect(await store.startEffect(turn, effectStart('call-1'))).toEqual({ outcome: 'frozen' });
  },
  'start-planned-freeze': async ({ store }) => {
    const requestId = await ask(store);
    await store.vote(requestId, approve('U-ann'));
    const frozenBy = 'Year end';
    expect(await store.start(requestId, attempt('first', { frozenBy }))).toEqual({ outcome: 'frozen' });
    expect(await found(store, requestId)).toMatchObject({ state: 'approved', attempts: 0 });
    expect(await store.start(requestId, attempt('second'))).toMatchObject({ outcome: 'started' });
  },
  'start-held': async (stage) => {
    const requestId = await askAndHold(stage);
    const { revision } = await found(stage.store, requestId);
    await stage.store.start(requestId, attempt('second'));
    expect(await eventsOf(stage.store, 'held')).toBe(1);
    expect(await found(stage.store, requestId)).toMatchObject({ revision });
  },
  'freeze-repeated': async ({ resending }) => {
    expect(await resending.freeze(newFreeze('*'))).toEqual({ outcome: 'frozen' });
  },
  'freeze-frozen': async ({ store }) => {
    await store.freeze(newFreeze('*', { who: 'U-ann' }));
    expect(await store.freeze(newFreeze('*', { who: 'U-ben' }))).toEqual({ outcome: 'already-frozen' });
    expect((await store.readFreezes()).freezes).toMatchObject([{ who: 'U-ann' }]);
  },
  'unfreeze-repeated': async ({ store, resending }) => {
    await store.freeze(newFreeze('*'));
    expect(await resending.unfreeze(unfreezeVote('*'))).toEqual({ outcome: 'unfrozen' });
  },
  'unfreeze-frozen': async ({ store }) => {
    expect(await store.unfreeze(unfreezeVote('*'))).toEqual({ outcome: 'not-frozen' });
  },
  'unfreeze-shown': async ({ store }) => {
    await store.freeze(newFreeze('*'));
    const late = unfreezeVote('*', { shown: 'an earlier one' });
    expect(await store.unfreeze(late)).toEqual({ outcome: 'not-as-shown' });
  },
  'unfreeze-eligible': async ({ store }) => {
    await store.freeze(newFreeze('*'));
    expect(await store.unfreeze(unfreezeVote('*', { eligible: false }))).toEqual({ outcome: 'not-eligible' });
  },
  'unfreeze-voted': async ({ store }) => {
    await store.freeze(newFreeze('*'));
    const vote = { quorum: 2, stillEligible: ['U-ann'] };
    await store.unfreeze(unfreezeVote('*', vote));
    expect(await store.unfreeze(unfreezeVote('*', vote))).toEqual({ outcome: 'voted', votes: 1 });
    expect((await store.readFreezes()).freezes).toMatchObject([{ votes: ['U-ann'] }]);
  },
  'unfreeze-still': async ({ store }) => {
    await store.freeze(newFreeze('*'));
    await store.unfreeze(unfreezeVote('*', { quorum: 2 }));
    const second = unfreezeVote('*', { quorum: 2, who: 'U-ben' });
    expect(await store.unfreeze(second)).toEqual({ outcome: 'voted', votes: 1 });
    const third = unfreezeVote('*', { quorum: 2, who: 'U-ben', stillEligible: ['U-ann'] });
    expect(await store.unfreeze(third)).toEqual({ outcome: 'unfrozen' });
  },
  'unfreeze-quorum': async ({ store }) => {
    await store.freeze(newFreeze('*'));
    expect(await store.unfreeze(unfreezeVote('*', { quorum: 2 }))).toEqual({ outcome: 'voted', votes: 1 });
  },
  'redraw-unknown': async ({ store }) => {
    expect(await store.redraw('T-none~none', { cause: 'one' })).toEqual({ outcome: 'unknown' });
  },
  'redraw-repeated': async ({ store, resending }) => {
    const requestId = await ask(store);
    const { revision } = await found(store, requestId);
    await resending.redraw(requestId, { cause: 'one' });
    expect(await found(store, requestId)).toMatchObject({ revision: revision + 1 });
  },
  'redraw-settled': async ({ store }) => {
    const requestId = await askAndStart(store);
    await store.finish(requestId, outcome('first'));
    expect(await store.redraw(requestId, { cause: 'one' })).toMatchObject({
      outcome: 'settled',
      state: 'succeeded',
    });
  },
};
