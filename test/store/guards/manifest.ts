import { expect } from 'vitest';
import type { RecordedManifest } from '../../../src/store/port/manifest.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { Scenarios } from './stage.ts';

const version = (digest: string): RecordedManifest => ({
  digest,
  text: `text of ${digest}`,
  lock: undefined,
  isGoverned: true,
});

const DECISION = { who: 'operator:ann', reason: 'It cannot be read', evidence: {} };

/** Counts the rows about adopted manifests. */
async function adoptions(store: Store): Promise<number> {
  let rows = 0;
  for await (const { event } of store.exportAudit()) rows += event === 'manifest-adopted' ? 1 : 0;
  return rows;
}

/** All processes agree on one manifest, and an approved change starts from that one. */
export const manifestScenarios: Scenarios = {
  'record-manifest-repeated': async ({ resending }) => {
    expect(await resending.recordManifest(undefined, version('one'))).toBe('recorded');
  },
  'record-manifest-changed': async ({ store }) => {
    await store.recordManifest(undefined, version('one'));
    await store.recordManifest('one', version('two'));
    expect(await store.recordManifest('one', version('three'))).toBe('changed');
    expect(await store.readManifest()).toMatchObject({ digest: 'two', text: 'text of two' });
  },
  'approve-manifest-repeated': async ({ store }) => {
    await store.recordManifest(undefined, version('one'));
    await store.approveManifest('one', 'two', 'key');
    await store.recordManifest('one', version('two'));
    expect(await store.approveManifest('one', 'two', 'key')).toBe('approved');
    expect(await store.readManifest()).toMatchObject({ digest: 'two', approved: undefined });
  },
  'adopt-manifest-repeated': async ({ store, resending }) => {
    await store.recordManifest(undefined, version('one'));
    expect(await resending.adoptManifest('one', version('two'), DECISION)).toBe('adopted');
    expect(await adoptions(store)).toBe(1);
  },
  'adopt-manifest-changed': async ({ store }) => {
    await store.recordManifest(undefined, version('one'));
    expect(await store.adoptManifest('other', version('two'), DECISION)).toBe('changed');
    expect(await store.readManifest()).toMatchObject({ digest: 'one' });
    expect(await adoptions(store)).toBe(0);
  },
  'approve-manifest-changed': async ({ store }) => {
    await store.recordManifest(undefined, version('one'));
    expect(await store.approveManifest('other', 'two', 'key')).toBe('changed');
    expect(await store.readManifest()).toMatchObject({ approved: undefined });
  },
};
