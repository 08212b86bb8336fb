import { expect } from 'vitest';
import { MINUTE_MS } from '../support.ts';
import type { Scenarios } from './stage.ts';

const NOTHING = { seq: 0, checkpoint: 0 };
const FIRST = { n: 1, hash: 'one', previous: '', text: '{}' };

/** One process at a time signs and exports, and no checkpoint is skipped, repeated or continued twice. */
export const exportScenarios: Scenarios = {
  'claim-export-other': async ({ store }) => {
    expect(await store.claimExport('first', MINUTE_MS)).toBe('held');
    expect(await store.claimExport('second', MINUTE_MS)).toBe('other');
    expect(await store.claimExport('first', 0)).toBe('held');
    expect(await store.claimExport('second', MINUTE_MS)).toBe('held');
  },
  'save-progress-held': async ({ store }) => {
    await store.claimExport('first', 0);
    await store.claimExport('second', MINUTE_MS);
    expect(await store.saveProgress('second', 'file:a', { seq: 7, checkpoint: 2 })).toBe('saved');
    expect(await store.saveProgress('first', 'file:a', NOTHING)).toBe('not-held');
    expect(await store.readProgress()).toEqual(new Map([['file:a', { seq: 7, checkpoint: 2 }]]));
  },
  'append-checkpoint-repeated': async ({ resending, store }) => {
    await store.claimExport('first', MINUTE_MS);
    expect(await resending.appendCheckpoint('first', FIRST)).toBe('appended');
  },
  'append-checkpoint-held': async ({ store }) => {
    await store.claimExport('first', MINUTE_MS);
    expect(await store.appendCheckpoint('second', FIRST)).toBe('not-held');
  },
  'append-checkpoint-next': async ({ store }) => {
    await store.claimExport('first', MINUTE_MS);
    await store.appendCheckpoint('first', FIRST);
    const next = { n: 2, hash: 'two', previous: 'another', text: '{}' };
    expect(await store.appendCheckpoint('first', next)).toBe('not-next');
    expect(await store.appendCheckpoint('first', { ...next, n: 3, previous: 'one' })).toBe('not-next');
    expect(await store.lastCheckpoint()).toEqual({ n: 1, hash: 'one', text: '{}' });
  },
  'append-checkpoint-deleted': async ({ store, client, keys }) => {
    await store.claimExport('first', MINUTE_MS);
    await store.appendCheckpoint('first', FIRST);
    await client.xdel(keys.shared('checkpoints'), '1-0');
    expect(await store.appendCheckpoint('first', { ...FIRST, hash: 'other' })).toBe('not-next');
  },
};
