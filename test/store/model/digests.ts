import type { Listed } from '../../../src/store/port/store.ts';
import type { Digested, Verbs, World } from './world.ts';

const DAY_MS = 86_400_000;

/** A person gets so many cards in a window; what comes then is on their digest, which is drawn until nothing on it is new. */
export function digestModel(
  world: World,
): Pick<Verbs, 'tell' | 'listInDigest' | 'readDigest' | 'doneDigest'> {
  const digestOf = (person: string): Digested => {
    const digest = world.digests.get(person) ?? {
      ...{ revision: 0, drawn: 0, number: 0, postedAt: 0, postedRevision: 0, place: undefined },
      ...{ cards: new Map<string, number>(), on: new Map() },
    };
    world.digests.set(person, digest);
    return digest;
  };

  const list = (person: string, { id, revision: known }: Listed, delayMs: number) => {
    const digest = digestOf(person);
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
    tell(person, request, { after, withinMs }, delayMs) {
      const { on, cards } = digestOf(person);
      if (on.has(request.id)) return { outcome: 'listed' };
      if (cards.has(request.id)) return { outcome: 'card' };
      const recent = [...cards.values()].filter((at) => at > world.now - withinMs);
      if (recent.length >= after) return list(person, request, delayMs);
      for (const [id, at] of cards) if (at <= world.now - DAY_MS) cards.delete(id);
      cards.set(request.id, world.now);
      return { outcome: 'card' };
    },

    listInDigest(person, request, delayMs) {
      const known = digestOf(person).on.get(request.id)?.known;
      if (known !== undefined && known >= request.revision) return { outcome: 'listed' };
      return list(person, request, delayMs);
    },

    readDigest(person) {
      const { revision, number, place, postedAt, postedRevision, on } = digestOf(person);
      const entries = [...on].map(([requestId, { since }]) => ({ requestId, since }));
      return {
        ...{ revision, number, place, postedAt, postedRevision },
        entries: entries.sort((a, b) => a.since - b.since || (a.requestId < b.requestId ? -1 : 1)),
      };
    },

    doneDigest({ item, owner, person }, { revision, place, number, gone, againMs }) {
      const { outbox } = world;
      const digest = digestOf(person);
      if (!outbox.has(item)) {
        if (digest.drawn <= revision) return 'done';
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      if (outbox.get(item)?.claim !== owner) return 'stale';
      outbox.delete(item);
      if (number !== digest.number)
        Object.assign(digest, { number, postedAt: world.now, postedRevision: revision });
      Object.assign(digest, { drawn: revision, place });
      if (digest.revision > revision) {
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      for (const id of gone) digest.on.delete(id);
      if (againMs > 0) outbox.set(item, { at: world.now + againMs, tries: 0 });
      return againMs > 0 ? 'due-later' : 'done';
    },
  };
}
