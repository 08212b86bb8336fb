import { expect } from 'vitest';
import type { OutboxItem, Store } from '../../../src/store/port/store.ts';
import { MINUTE_MS } from '../support.ts';
import type { Scenarios } from './stage.ts';

const PERSON = 'U-ann';
const LIMIT = { after: 1, withinMs: MINUTE_MS };
const request = (name: string, revision = 1) => ({ id: `C1:1~${name}`, revision });

async function claimDigest(store: Store, leaseMs = MINUTE_MS): Promise<OutboxItem & { kind: 'digest' }> {
  const [item] = await store.claimOutbox({ leaseMs, limit: 1 });
  if (item?.kind !== 'digest') throw new Error('The outbox gave no digest');
  return item;
}

/** Guards of digests. */
export const digestScenarios: Scenarios = {
  'digest-tell-many': async ({ store }) => {
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
    expect(await store.tell(PERSON, request('two'), 0, LIMIT)).toEqual({ outcome: 'listed' });
  },
  'digest-tell-card': async ({ store }) => {
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
  },
  // A request stays on the digest although a card would be possible by now.
  'digest-tell-listed': async ({ store }) => {
    await store.tell(PERSON, request('one'), 0);
    expect(await store.tell(PERSON, request('one', 2), 0, LIMIT)).toEqual({ outcome: 'listed' });
  },
  'digest-tell-repeated': async ({ store, resending }) => {
    await resending.tell(PERSON, request('one'), 0);
    expect(await store.readDigest(PERSON)).toMatchObject({ revision: 1, entries: [{ since: 1 }] });
    await store.tell(PERSON, request('one', 2), 0);
    expect(await store.readDigest(PERSON)).toMatchObject({ revision: 2, entries: [{ since: 1 }] });
  },
  'digest-tell-held': async ({ store }) => {
    await store.tell(PERSON, request('one'), 0);
    await store.retryOutbox(await claimDigest(store), MINUTE_MS);
    await store.tell(PERSON, request('two'), 0);
    expect(await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 })).toEqual([]);
  },
};
