import { expect } from 'vitest';
import { actor, approve, ask, found, MINUTE_MS } from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const grant = (changes: object = {}) => ({
  ...{ id: 'g-1', expiresAt: Date.now() + MINUTE_MS, uses: 1, details: { tool: 'refund_order' } },
  ...changes,
});

async function open({ store }: Stage, changes: object = {}): Promise<void> {
  await store.openGrant(grant(changes));
}

async function eventsOf({ store }: Stage, event: string): Promise<number> {
  let count = 0;
  for await (const row of store.exportAudit()) if (row.event === event) count += 1;
  return count;
}

/** Guards of grants. */
export const grantScenarios: Scenarios = {
  'vote-granted': async ({ store }) => {
    const both = { policy: { quorum: 2 } };
    const one = await ask(store, both);
    await store.vote(one, approve('U-ann', { grants: true }));
    await store.vote(one, approve('U-ben'));
    expect(await found(store, one)).toMatchObject({ state: 'approved', granted: false });
    const all = await ask(store, both);
    await store.vote(all, approve('U-ann', { grants: true }));
    await store.vote(all, approve('U-ben', { grants: true }));
    expect(await found(store, all)).toMatchObject({ state: 'approved', granted: true });
  },
  'open-grant-expired': async ({ store }) => {
    expect(await store.openGrant(grant({ expiresAt: Date.now() - MINUTE_MS }))).toEqual({
      outcome: 'expired',
    });
  },
  'open-grant-repeated': async (stage) => {
    await open(stage);
    await stage.store.useGrant('g-1', 'one', {});
    await open(stage);
    expect(await stage.store.useGrant('g-1', 'two', {})).toEqual({ outcome: 'spent' });
  },
  'use-grant-unknown': async ({ store }) => {
    expect(await store.useGrant('g-none', 'one', {})).toEqual({ outcome: 'unknown' });
  },
  'use-grant-revoked': async (stage) => {
    await open(stage);
    await stage.store.revokeGrant('g-1', actor('U-ann'));
    expect(await stage.store.useGrant('g-1', 'one', {})).toEqual({ outcome: 'revoked' });
  },
  'use-grant-expired': async (stage) => {
    await open(stage);
    await stage.client.hset(stage.keys.grant('g-1', 0), 'expires', 1);
    expect(await stage.store.useGrant('g-1', 'one', {})).toEqual({ outcome: 'expired' });
  },
  'use-grant-repeated': async (stage) => {
    await open(stage);
    expect(await stage.resending.useGrant('g-1', 'one', {})).toEqual({ outcome: 'used', used: 1 });
  },
  'use-grant-spent': async (stage) => {
    await open(stage);
    await stage.store.useGrant('g-1', 'one', {});
    expect(await stage.store.useGrant('g-1', 'two', {})).toEqual({ outcome: 'spent' });
  },
  'return-use-taken': async (stage) => {
    await open(stage);
    await stage.store.useGrant('g-1', 'one', {});
    await stage.resending.returnUse('g-1', 'one', {});
    expect(await stage.store.loadGrant('g-1')).toMatchObject({ used: 0 });
  },
  'revoke-grant-unknown': async ({ store }) => {
    expect(await store.revokeGrant('g-none', actor('U-ann'))).toEqual({ outcome: 'unknown' });
  },
  'revoke-grant-eligible': async (stage) => {
    await open(stage);
    const stranger = actor('U-eve', { eligible: false });
    expect(await stage.store.revokeGrant('g-1', stranger)).toEqual({ outcome: 'not-eligible' });
    expect(await stage.store.useGrant('g-1', 'one', {})).toMatchObject({ outcome: 'used' });
  },
  'revoke-grant-repeated': async (stage) => {
    await open(stage);
    await stage.resending.revokeGrant('g-1', actor('U-ann'));
    expect(await eventsOf(stage, 'grant-revoked')).toBe(1);
  },
};
