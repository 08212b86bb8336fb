import type { KeptEntry } from './build-entries.ts';
import { MOST_TOOLS } from './most-tools.ts';
import type { Place } from './toolbox.ts';

/** What the model is offered in a place: the first of those that may be used there, and never more than it takes. */
export function offeredEntries(entries: Iterable<KeptEntry>, place: Place): KeptEntry[] {
  return entriesIn(entries, place).slice(0, MOST_TOOLS);
}

/** The entries that some place has no room for. */
export function crowdedOut(entries: Iterable<KeptEntry>): ReadonlySet<KeptEntry> {
  const all = [...entries];
  if (all.length <= MOST_TOOLS) return new Set();
  // Whoever and wherever no entry names is one more person and one more place.
  const channels = new Set(['', ...all.flatMap(({ allow }) => allow.channels ?? [])]);
  const people = new Set(['', ...all.flatMap(({ allow }) => allow.people ?? [])]);
  const places = [...channels].flatMap((channel) => [...people].map((requester) => ({ channel, requester })));
  return new Set(places.flatMap((place) => entriesIn(all, place).slice(MOST_TOOLS)));
}

function entriesIn(entries: Iterable<KeptEntry>, { channel, requester }: Place): KeptEntry[] {
  return [...entries].filter(({ allow: { channels, people } }) => {
    const here = channels === undefined || channels.includes(channel);
    return here && (people === undefined || people.includes(requester));
  });
}
