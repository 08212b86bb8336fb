import type { Verbs, World } from './world.ts';

type ManifestVerbs = Pick<Verbs, 'readManifest' | 'recordManifest' | 'approveManifest' | 'adoptManifest'>;

/** One manifest is active; another takes its place only for somebody who knows it, and uses up the approval. */
export function manifestModel(world: World): ManifestVerbs {
  return {
    readManifest: () => world.manifest,

    recordManifest(former, next) {
      if (world.manifest?.digest === next.digest) return 'recorded';
      if (world.manifest?.digest !== former) return 'changed';
      world.manifest = { ...next, approved: undefined };
      return 'recorded';
    },

    approveManifest(former, next, change) {
      if (world.manifest?.digest === next) return 'approved';
      if (world.manifest === undefined || world.manifest.digest !== former) return 'changed';
      world.manifest = { ...world.manifest, approved: change };
      return 'approved';
    },

    adoptManifest(former, next, { who }) {
      if (world.manifest?.digest === next.digest) return 'adopted';
      if (world.manifest?.digest !== former) return 'changed';
      world.manifest = { ...next, approved: undefined };
      world.shard(0).audit.push([world.now, 'manifest-adopted', `manifest:${next.digest}`, who].join(' '));
      return 'adopted';
    },
  };
}
