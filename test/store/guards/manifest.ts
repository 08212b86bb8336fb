import { expect } from 'vitest';
import type { RecordedManifest } from '../../../src/store/port/manifest.ts';
import type { Scenarios } from './stage.ts';

const version = (digest: string): RecordedManifest => ({
  digest,
  text: `text of ${digest}`,
  lock: undefined,
  isGoverned: true,
});

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
  'approve-manifest-changed': async ({ store }) => {
    await store.recordManifest(undefined, version('one'));
    expect(await store.approveManifest('other', 'two', 'key')).toBe('changed');
    expect(await store.readManifest()).toMatchObject({ approved: undefined });
  },
};
