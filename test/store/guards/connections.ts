import { expect } from 'vitest';
import type { Scenarios } from './stage.ts';

const first = { version: 'one', sealed: 'first' };
const second = { version: 'two', sealed: 'second' };

/** A renewed account does not bring back one that was removed, or replace one that was connected anew; a lost one does not remove that either. */
export const connectionScenarios: Scenarios = {
  'save-connection-repeated': async ({ store, resending }) => {
    await store.saveConnection('docs', 'U1', first);
    expect(await resending.saveConnection('docs', 'U1', second, 'one')).toBe('saved');
    expect(await store.readConnection('docs', 'U1')).toEqual(second);
  },
  'save-connection-stale': async ({ store }) => {
    await store.saveConnection('docs', 'U1', first);
    expect(await store.saveConnection('docs', 'U1', second, 'another')).toBe('stale');
    await store.removeConnection('docs', 'U1');
    expect(await store.saveConnection('docs', 'U1', second, 'one')).toBe('stale');
    expect(await store.readConnection('docs', 'U1')).toBeUndefined();
    expect(await store.listConnected('docs')).toEqual([]);
  },
  'remove-connection-stale': async ({ store, resending }) => {
    await store.saveConnection('docs', 'U1', second);
    expect(await store.removeConnection('docs', 'U1', 'one')).toBe('stale');
    expect(await store.readConnection('docs', 'U1')).toEqual(second);
    expect(await resending.removeConnection('docs', 'U1', 'two')).toBe('removed');
    await store.saveConnection('docs', 'U1', first);
    expect(await store.removeConnection('docs', 'U1')).toBe('removed');
    expect(await store.readConnection('docs', 'U1')).toBeUndefined();
  },
};
