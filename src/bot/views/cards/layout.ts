import type { KnownBlock } from '@slack/types';

/**
 * The levels of a card that waits, from top to bottom: who decides, who asks and until when, with the reviews so far; why people are asked,
 * and what a rejection means; what to know beside the call; what it changes; the call itself; the words of who asks; and what is last to
 * read before the buttons.
 */
const LEVELS = ['head', 'why', 'notes', 'change', 'call', 'origin', 'last'] as const;
type Level = (typeof LEVELS)[number];

/** Lines of a card by their level. */
export type CardLines = { readonly [Each in Level]?: readonly KnownBlock[] };

/** Joins lines of several, level by level, in their order. */
export function joinLines(all: readonly CardLines[]): Required<CardLines> {
  const at = (level: Level) => all.flatMap((lines) => lines[level] ?? []);
  return {
    head: at('head'),
    why: at('why'),
    notes: at('notes'),
    change: at('change'),
    call: at('call'),
    origin: at('origin'),
    last: at('last'),
  };
}

/** Lays out the lines of a card. It is the one place that knows their order. */
export function layOut(lines: CardLines): readonly KnownBlock[] {
  return LEVELS.flatMap((level) => lines[level] ?? []);
}
