import type { RequestRecord } from '../../store/port/request-record.ts';
import { type Facet, NOTHING } from './facet.ts';

/** Begins the cause for which cards are drawn again when somebody who may decide has opened Details. */
const CAUSE = 'review ';
/** A card says so long that somebody is reviewing it. */
const REVIEW_MS = 300_000;

/** A person who has just opened Details, and until when the cards say so. It locks nothing. */
export interface Review {
  readonly who: string;
  readonly until: number;
}

/** The person who is reading a request now, so that two people do not read the same by accident. */
export const review = {
  name: 'review',
  schema: NOTHING,
  readNow: ({ request }) => reviewOf(request),
} satisfies Facet<'review', never, Review>;

/** Writes the cause that puts a review on record. */
export function reviewCause(who: string, now = Date.now()): string {
  return `${CAUSE}${who} ${now}`;
}

/** Returns the person who is reviewing a request that waits; whoever has decided is not any more. */
export function reviewOf(
  { kind, state, redrawnFor = '', votes }: RequestRecord,
  now = Date.now(),
): Review | undefined {
  const [, who, at] = /^review (\S+) (\d+)$/.exec(redrawnFor) ?? [];
  if (who === undefined || kind !== 'approval' || state !== 'pending') return undefined;
  const until = Number(at) + REVIEW_MS;
  return until > now && votes.every((vote) => vote.who !== who) ? { who, until } : undefined;
}
