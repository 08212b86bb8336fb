import { expect } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import type { OutboxItem } from '../../../src/store/port/values.ts';
import { MINUTE_MS } from '../support.ts';
import type { Scenarios } from './stage.ts';

const PERSON = 'U-ann';
const LIMIT = { after: 1, withinMs: MINUTE_MS };
const request = (name: string, revision = 1) => ({ id: `C1:1~${name}`, revision });

async function claimSummary(store: Store, leaseMs = MINUTE_MS): Promise<OutboxItem & { kind: 'summary' }> {
  const [item] = await store.claimOutbox({ leaseMs, limit: 1 });
  if (item?.kind !== 'summary') throw new Error('The outbox gave no summary');
  return item;
}

/** Guards of summaries. */
export const summaryScenarios: Scenarios = {
  'tell-many': async ({ store }) => {
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
    expect(await store.tell(PERSON, request('two'), 0, LIMIT)).toEqual({ outcome: 'listed' });
  },
  'tell-card': async ({ store }) => {
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
    expect(await store.tell(PERSON, request('one'), 0, LIMIT)).toEqual({ outcome: 'card' });
  },
  // A request stays on the summary although a card would be possible by now.
  'tell-listed': async ({ store }) => {
    await store.tell(PERSON, request('one'), 0);
    expect(await store.tell(PERSON, request('one', 2), 0, LIMIT)).toEqual({ outcome: 'listed' });
  },
  'tell-repeated': async ({ store, resending }) => {
    await resending.tell(PERSON, request('one'), 0);
    expect(await store.readSummary(PERSON)).toMatchObject({ revision: 1, entries: [{ since: 1 }] });
    await store.tell(PERSON, request('one', 2), 0);
    expect(await store.readSummary(PERSON)).toMatchObject({ revision: 2, entries: [{ since: 1 }] });
  },
  'tell-held': async ({ store }) => {
    await store.tell(PERSON, request('one'), 0);
    await store.retryOutbox(await claimSummary(store), MINUTE_MS);
    await store.tell(PERSON, request('two'), 0);
    expect(await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 })).toEqual([]);
  },
};
