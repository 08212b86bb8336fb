import { expect } from 'vitest';
import type { GrantOffer } from '../../../src/store/port/workspace.ts';
import {
  actor,
  approve,
  ask,
  beginTurn,
  effectStart,
  findGrant,
  found,
  MINUTE_MS,
  newFreeze,
  newThreadId,
  openGrant,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

function open({ store }: Stage, changes: Partial<GrantOffer> = {}): Promise<void> {
  return openGrant(store, changes);
}

/** Counts a call under the grant. */
function run({ store }: Stage, call: string) {
  return store.countCall('T-1', { ref: call, grant: { id: 'g-1', call, evidence: {} } });
}

const ungranted = (reason: string) => ({ outcome: 'ungranted', reason });

async function eventsOf({ store }: Stage, event: string): Promise<number> {
  let count = 0;
  for await (const row of store.exportAudit()) if (row.event === event) count += 1;
  return count;
}

/** Guards of grants. */
export const grantScenarios: Scenarios = {
  'vote-granted': async ({ store }) => {
    const both = { policy: { quorum: 2 } };
    const grants = { id: 'g-1', uses: 1, forMs: MINUTE_MS, details: { tool: 'refund_order' } };
    const one = await ask(store, both);
    await store.vote(one, approve('U-ann', { grants }));
    await store.vote(one, approve('U-ben'));
    expect(await found(store, one)).toMatchObject({ state: 'approved', granted: false });
    const all = await ask(store, both);
    expect(await store.listGrants()).toEqual([]);
    await store.vote(all, approve('U-ben', { grants }));
    expect(await store.listGrants()).toEqual([]);
    await store.vote(all, approve('U-ann', { grants }));
    expect(await found(store, all)).toMatchObject({ state: 'approved', granted: true });
    expect(await findGrant(store, 'g-1')).toMatchObject({
      uses: 1,
      used: 0,
      details: { by: ['U-ann', 'U-ben'], tool: 'refund_order' },
    });
  },
  'grant-unknown': async (stage) => {
    expect(await run(stage, 'one')).toEqual(ungranted('unknown'));
  },
  'grant-revoked': async (stage) => {
    await open(stage);
    await stage.store.revokeGrant('g-1', actor('U-ann'));
    expect(await run(stage, 'one')).toEqual(ungranted('revoked'));
  },
  'grant-expired': async (stage) => {
    await open(stage);
    await stage.client.hset(stage.keys.shared('grants'), 'grant|g-1', '1 1 1 {}');
    expect(await run(stage, 'one')).toEqual(ungranted('expired'));
  },
  'grant-repeated': async (stage) => {
    await open(stage);
    await run(stage, 'one');
    expect(await run(stage, 'one')).toEqual({ outcome: 'counted', used: 1 });
  },
  'grant-spent': async (stage) => {
    await open(stage);
    await run(stage, 'one');
    expect(await run(stage, 'two')).toEqual(ungranted('spent'));
  },
  'count-call-granted': async (stage) => {
    expect(await run(stage, 'one')).toEqual(ungranted('unknown'));
  },
  'start-granted': async (stage) => {
    const { store } = stage;
    await open(stage);
    const turn = await beginTurn(store, newThreadId());
    const start = (ref: string) => effectStart(ref, { grant: { id: 'g-1', call: ref, evidence: {} } });
    expect(await store.startEffect(turn, start('call-1'))).toEqual({ outcome: 'started', used: 1 });
    expect(await store.startEffect(turn, start('call-2'))).toEqual(ungranted('spent'));
    expect(await eventsOf(stage, 'effect-started')).toBe(1);
    // A call that does not start takes no use.
    await open(stage, { id: 'g-2' });
    await store.freeze(newFreeze('*'));
    const frozen = effectStart('call-3', { grant: { id: 'g-2', call: 'call-3', evidence: {} } });
    expect(await store.startEffect(turn, frozen)).toEqual({ outcome: 'frozen' });
    expect(await findGrant(store, 'g-2')).toMatchObject({ used: 0 });
  },
  'revoke-grant-unknown': async ({ store }) => {
    expect(await store.revokeGrant('g-none', actor('U-ann'))).toEqual({ outcome: 'unknown' });
  },
  'revoke-grant-eligible': async (stage) => {
    await open(stage);
    const stranger = actor('U-eve', { eligible: false });
    expect(await stage.store.revokeGrant('g-1', stranger)).toEqual({ outcome: 'not-eligible' });
    expect(await run(stage, 'one')).toEqual({ outcome: 'counted', used: 1 });
  },
  'revoke-grant-repeated': async (stage) => {
    await open(stage);
    await stage.resending.revokeGrant('g-1', actor('U-ann'));
    expect(await eventsOf(stage, 'grant-revoked')).toBe(1);
  },
};
