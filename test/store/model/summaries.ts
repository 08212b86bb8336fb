import type { Listed } from '../../../src/store/port/summaries.ts';
import type { Summarized, Verbs, World } from './world.ts';

const DAY_MS = 86_400_000;

/** The summary of a person, made where there is none. */
export function summaryOf(world: World, person: string): Summarized {
  const summary = world.summaries.get(person) ?? {
    ...{ revision: 0, drawn: 0, number: 0, postedAt: 0, postedRevision: 0, place: undefined },
    ...{ cards: new Map<string, number>(), on: new Map() },
  };
  world.summaries.set(person, summary);
  return summary;
}

/** A person gets so many cards in a window; what comes then is on their summary, which is drawn until nothing on it is new. */
export function summaryModel(world: World): Pick<Verbs, 'tell' | 'readSummary'> {
  const list = (person: string, { id, revision: known }: Listed, delayMs: number) => {
    const summary = summaryOf(world, person);
    summary.revision += 1;
    summary.on.set(id, { since: summary.on.get(id)?.since ?? summary.revision, known });
    const { outbox } = world;
    const item = `summary|${person}`;
    const due = world.now + delayMs;
    const waiting = outbox.get(item);
    if (waiting === undefined) outbox.set(item, { at: due, tries: 0 });
    else if (waiting.claim === undefined && waiting.tries === 0) waiting.at = Math.min(waiting.at, due);
    return { outcome: 'listed' } as const;
  };

  return {
    tell(person, request, delayMs, limit) {
      const { on, cards } = summaryOf(world, person);
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

    readSummary(person) {
      const { revision, number, place, postedAt, postedRevision, on } = summaryOf(world, person);
      const entries = [...on].map(([requestId, { since }]) => ({ requestId, since }));
      return {
        ...{ revision, number, place, postedAt, postedRevision },
        entries: entries.sort((a, b) => a.since - b.since || (a.requestId < b.requestId ? -1 : 1)),
      };
    },
  };
}
