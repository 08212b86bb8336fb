import type { Listed } from '../../../src/store/port/store.ts';
import type { Digested, Verbs, World } from './world.ts';

const DAY_MS = 86_400_000;

/** The digest of a person, made where there is none. */
export function digestOf(world: World, person: string): Digested {
  const digest = world.digests.get(person) ?? {
    ...{ revision: 0, drawn: 0, number: 0, postedAt: 0, postedRevision: 0, place: undefined },
    ...{ cards: new Map<string, number>(), on: new Map() },
  };
  world.digests.set(person, digest);
  return digest;
}

/** A person gets so many cards in a window; what comes then is on their digest, which is drawn until nothing on it is new. */
export function digestModel(world: World): Pick<Verbs, 'tell' | 'readDigest'> {
  const list = (person: string, { id, revision: known }: Listed, delayMs: number) => {
    const digest = digestOf(world, person);
    digest.revision += 1;
    digest.on.set(id, { since: digest.on.get(id)?.since ?? digest.revision, known });
    const { outbox } = world;
    const item = `digest|${person}`;
    const due = world.now + delayMs;
    const waiting = outbox.get(item);
    if (waiting === undefined) outbox.set(item, { at: due, tries: 0 });
    else if (waiting.claim === undefined && waiting.tries === 0) waiting.at = Math.min(waiting.at, due);
    return { outcome: 'listed' } as const;
  };

  return {
    tell(person, request, delayMs, limit) {
      const { on, cards } = digestOf(world, person);
      const known = on.get(request.id)?.known;
      if (known !== undefined && known >= request.revision) return { outcome: 'listed' };
      if (known !== undefined || limit === undefined) return list(person, request, delayMs);
      if (cards.has(request.id)) return { outcome: 'card' };
      const recent = [...cards.values()].filter((at) => at > world.now - limit.withinMs);
      if (recent.length >= limit.after) return list(person, request, delayMs);
      for (const [id, at] of cards) if (at <= world.now - DAY_MS) cards.delete(id);
      cards.set(request.id, world.now);
      return { outcome: 'card' };
    },

    readDigest(person) {
      const { revision, number, place, postedAt, postedRevision, on } = digestOf(world, person);
      const entries = [...on].map(([requestId, { since }]) => ({ requestId, since }));
      return {
        ...{ revision, number, place, postedAt, postedRevision },
        entries: entries.sort((a, b) => a.since - b.since || (a.requestId < b.requestId ? -1 : 1)),
      };
    },
  };
}
