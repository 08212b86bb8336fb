import type { Verbs, World } from './world.ts';

/** One process at a time signs; a checkpoint continues the last one and no other. */
export function exportModel({ checkpoints, documents }: World): Pick<Verbs, 'appendCheckpoint'> {
  return {
    appendCheckpoint(owner, { n, hash, previous, text }) {
      const last = checkpoints.at(-1) ?? { n: 0, hash: '' };
      if (last.n === n && last.hash === hash) return 'appended';
      if (documents.get('lock|export')?.version !== owner) return 'not-held';
      if (n !== last.n + 1 || previous !== last.hash) return 'not-next';
      checkpoints.push({ n, hash, text });
      return 'appended';
    },
  };
}
