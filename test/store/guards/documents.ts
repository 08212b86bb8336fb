import { expect } from 'vitest';
import type { Scenarios } from './stage.ts';

const first = { version: 'one', value: 'first' };
const second = { version: 'two', value: 'second' };
const audit = { event: 'document-changed', subject: 'document:one', detail: 'U1', body: {} };

/** A change that names what it replaces does not bring back what was removed, or replace what it has not seen. */
export const documentScenarios: Scenarios = {
  'document-repeated': async ({ store, resending, client, keys }) => {
    await store.writeDocument('docs', 'U1', first);
    expect(await resending.writeDocument('docs', 'U1', second, { replaces: 'one', audit })).toBe('written');
    expect(await store.readDocument('docs', 'U1')).toEqual(second);
    let rows = 0;
    for await (const { event } of store.exportAudit()) rows += event === audit.event ? 1 : 0;
    expect(rows).toBe(1);
    // A lease is the same version again: its holder keeps it for longer, and nobody else gets it.
    const lease = { replaces: '', forMs: 60_000 };
    await store.writeDocument('lock', 'one', first, { ...lease, forMs: 1_000 });
    expect(await store.writeDocument('lock', 'one', first, lease)).toBe('written');
    expect(await client.pttl(keys.document('lock|one'))).toBeGreaterThan(1_000);
    expect(await store.writeDocument('lock', 'one', second, lease)).toBe('stale');
  },
  'document-removed': async ({ store, resending }) => {
    await store.writeDocument('docs', 'U1', first);
    expect(await resending.writeDocument('docs', 'U1', undefined, { replaces: 'one' })).toBe('written');
    expect(await store.readDocument('docs', 'U1')).toBeUndefined();
  },
  'document-stale': async ({ store }) => {
    await store.writeDocument('docs', 'U1', first);
    expect(await store.writeDocument('docs', 'U1', second, { replaces: 'another' })).toBe('stale');
    expect(await store.writeDocument('docs', 'U1', second, { replaces: '' })).toBe('stale');
    expect(await store.writeDocument('docs', 'U1', undefined, { replaces: 'two' })).toBe('stale');
    expect(await store.readDocument('docs', 'U1')).toEqual(first);
    await store.writeDocument('docs', 'U1', undefined);
    expect(await store.writeDocument('docs', 'U1', second, { replaces: 'one' })).toBe('stale');
    expect(await store.listDocuments('docs')).toEqual([]);
  },
};
