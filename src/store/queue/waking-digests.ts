import type { Engine } from '../port/engine.ts';
import type { DigestStore } from '../port/store.ts';
import { shardOf } from '../record/keys.ts';

/** Wraps the digests: one that becomes due wakes a sender. */
export function wakingDigests(
  store: DigestStore,
  engine: Pick<Engine, 'wake'>,
): Pick<DigestStore, 'tell' | 'listInDigest' | 'doneDigest'> {
  const wakeDigest = (person: string, delayMs: number): void =>
    engine.wake({ kind: 'outbox', shard: shardOf(person) }, delayMs);

  return {
    async tell(person, request, limit, delayMs) {
      const result = await store.tell(person, request, limit, delayMs);
      if (result.outcome === 'listed') wakeDigest(person, delayMs);
      return result;
    },

    async listInDigest(person, request, delayMs) {
      const result = await store.listInDigest(person, request, delayMs);
      wakeDigest(person, delayMs);
      return result;
    },

    async doneDigest(item, drawn) {
      const result = await store.doneDigest(item, drawn);
      if (result === 'due-again') wakeDigest(item.person, 0);
      if (result === 'due-later') wakeDigest(item.person, drawn.againMs);
      return result;
    },
  };
}
