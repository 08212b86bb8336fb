import { expect } from 'vitest';
import { delegationsIn, type NewDelegation } from '../../../src/store/documents/delegations.ts';
import { approve, ask, found, MINUTE_MS, reject } from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const delegation = (changes: Partial<NewDelegation> = {}): NewDelegation => ({
  ...{ id: 'd-1', from: 'U-ann', to: 'U-dan', until: Date.now() + MINUTE_MS, reason: 'away', evidence: {} },
  ...changes,
});
const OPEN = { policy: { delegation: true as const, quorum: 2, vetoes: 2 } };
const FOR_ANN = { standsFor: 'U-ann' };

async function delegate(
  { store }: Pick<Stage, 'store'>,
  changes: Partial<NewDelegation> = {},
): Promise<void> {
  await delegationsIn(store).delegate(delegation(changes));
}

/** Guards of delegations, and of the votes in the place of somebody. */
export const delegationScenarios: Scenarios = {
  'vote-delegation': async (stage) => {
    await delegate(stage);
    const requestId = await ask(stage.store);
    expect(await stage.store.vote(requestId, approve('U-dan', FOR_ANN))).toEqual({
      outcome: 'not-delegated',
    });
  },
  'vote-delegated': async ({ store }) => {
    const requestId = await ask(store, OPEN);
    expect(await store.vote(requestId, approve('U-dan', FOR_ANN))).toEqual({ outcome: 'not-delegated' });
    expect(await found(store, requestId)).toMatchObject({ approvals: 0, votes: [] });
  },
  'delegated-to': async (stage) => {
    await delegate(stage, { to: 'U-ben' });
    const requestId = await ask(stage.store, OPEN);
    expect(await stage.store.vote(requestId, approve('U-dan', FOR_ANN))).toEqual({
      outcome: 'not-delegated',
    });
  },
  'delegated-until': async (stage) => {
    const { client, keys, store } = stage;
    const over = `U-ann U-dan ${Date.now() - 1} 1 d-1 ""`;
    await client.set(keys.document('delegations|table'), `d-1\n${over}`);
    const requestId = await ask(store, OPEN);
    expect(await store.vote(requestId, approve('U-dan', FOR_ANN))).toEqual({ outcome: 'not-delegated' });
  },
  'vote-for-own': async (stage) => {
    await delegate(stage);
    const own = { outcome: 'own-request' };
    const forAnn = approve('U-dan', FOR_ANN);
    // Neither a requester votes for somebody, nor somebody for a requester or for one who is barred.
    const byDan = { requester: 'U-dan', policy: { ...OPEN.policy, selfApproval: true } };
    expect(await stage.store.vote(await ask(stage.store, byDan), forAnn)).toEqual(own);
    expect(await stage.store.vote(await ask(stage.store, { ...OPEN, requester: 'U-ann' }), forAnn)).toEqual(
      own,
    );
    expect(await stage.store.vote(await ask(stage.store, { ...OPEN, barred: ['U-ann'] }), forAnn)).toEqual(
      own,
    );
  },
  'vote-represented': async (stage) => {
    const { store } = stage;
    await delegate(stage);
    const represented = await ask(store, OPEN);
    await store.vote(represented, approve('U-dan', FOR_ANN));
    const byDan = { outcome: 'represented', by: 'U-dan' };
    expect(await store.vote(represented, approve('U-ann'))).toEqual(byDan);
    expect(await store.vote(represented, reject('U-ann'))).toEqual(byDan);
    const present = await ask(store, OPEN);
    await store.vote(present, approve('U-ann'));
    expect(await store.vote(present, approve('U-dan', FOR_ANN))).toEqual({
      outcome: 'represented',
      by: 'U-ann',
    });
    // A later delegate has no second vote for the same person.
    await delegate(stage, { id: 'd-2', to: 'U-eve' });
    expect(await store.vote(represented, approve('U-eve', FOR_ANN))).toEqual(byDan);
    // Whoever has voted for somebody is not represented by a third.
    await delegate(stage, { id: 'd-3', from: 'U-dan', to: 'U-eve' });
    expect(await store.vote(represented, approve('U-eve', { standsFor: 'U-dan' }))).toEqual(byDan);
    expect(await found(store, represented)).toMatchObject({ state: 'pending', approvals: 1 });
  },
};
