import type { Verbs, World } from './world.ts';

type ExportVerbs = Pick<Verbs, 'claimExport' | 'saveProgress' | 'appendCheckpoint' | 'lastCheckpoint'>;

/** One process at a time signs and exports; a checkpoint continues the last one and no other. */
export function exportModel(world: World): ExportVerbs {
  return {
    claimExport(owner, leaseMs) {
      const { lease } = world.exported;
      if (lease !== undefined && lease.owner !== owner && world.now < lease.until) return 'other';
      world.exported.lease = { owner, until: world.now + leaseMs };
      return 'held';
    },

    saveProgress(owner, sink, progress) {
      if (world.exported.lease?.owner !== owner) return 'not-held';
      world.exported.progress.set(sink, progress);
      return 'saved';
    },

    appendCheckpoint(owner, { n, hash, previous, text }) {
      const { checkpoints, lease } = world.exported;
      const last = checkpoints.at(-1) ?? { n: 0, hash: '' };
      if (last.n === n && last.hash === hash) return 'appended';
      if (lease?.owner !== owner) return 'not-held';
      if (n !== last.n + 1 || previous !== last.hash) return 'not-next';
      checkpoints.push({ n, hash, text });
      return 'appended';
    },

    lastCheckpoint: () => world.exported.checkpoints.at(-1),
  };
}
