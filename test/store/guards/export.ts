import { expect } from 'vitest';
import { exportIn } from '../../../src/audit/export-progress.ts';
import { MINUTE_MS } from '../support.ts';
import type { Scenarios } from './stage.ts';

const FIRST = { n: 1, hash: 'one', previous: '', text: '{}' };

/** One process at a time signs, and no checkpoint is skipped, repeated or continued twice. */
export const exportScenarios: Scenarios = {
  'append-checkpoint-repeated': async ({ resending, store }) => {
    await exportIn(store).claim('first', MINUTE_MS);
    expect(await resending.appendCheckpoint('first', FIRST)).toBe('appended');
  },
  'append-checkpoint-held': async ({ store }) => {
    await exportIn(store).claim('first', MINUTE_MS);
    expect(await store.appendCheckpoint('second', FIRST)).toBe('not-held');
  },
  'append-checkpoint-next': async ({ store }) => {
    await exportIn(store).claim('first', MINUTE_MS);
    await store.appendCheckpoint('first', FIRST);
    const next = { n: 2, hash: 'two', previous: 'another', text: '{}' };
    expect(await store.appendCheckpoint('first', next)).toBe('not-next');
    expect(await store.appendCheckpoint('first', { ...next, n: 3, previous: 'one' })).toBe('not-next');
    expect((await store.auditEnds()).checkpoint).toEqual({ n: 1, hash: 'one', text: '{}' });
  },
  'append-checkpoint-deleted': async ({ store, client, keys }) => {
    await exportIn(store).claim('first', MINUTE_MS);
    await store.appendCheckpoint('first', FIRST);
    await client.xdel(keys.shared('checkpoints'), '1-0');
    expect(await store.appendCheckpoint('first', { ...FIRST, hash: 'other' })).toBe('not-next');
  },
};
