import type { RecordedRow } from '../../../record-protocol.ts';

const MAX_WORD_LENGTH = 24;
/** The words after the event of a row that names no person. */
const NOTES: Readonly<Record<string, string>> = {
  approved: '(quorum reached)',
  reminded: '(still no decision)',
  escalated: '(still no decision)',
  expired: '(no decision in time)',
  retried: 'after a crash',
  unknown: 'after a crash',
};

/** Returns the person who a row says did it; nothing for a row that the bot wrote by itself. */
export function actorOf(row: RecordedRow, name: (id: string) => string): string | undefined {
  const { who, requester } = bodyOf(row);
  const person = who ?? requester ?? (row.event === 'rejected' ? row.detail : undefined);
  return person === undefined ? undefined : name(person);
}

/** Says after the event of a row who did it, or why it happened, such as `by Alice` or `(quorum reached)`. */
export function describeActor(row: RecordedRow, name: (id: string) => string): string {
  const actor = actorOf(row, name);
  return actor === undefined ? (NOTES[row.event] ?? '') : `by ${actor}`;
}

/** Describes a row's detail, with names instead of ids and long words shortened. */
export function describeDetail({ detail }: RecordedRow, name: (id: string) => string): string {
  return detail
    .split(' ')
    .map((word) => name(word))
    .map((word) => (word.length > MAX_WORD_LENGTH && !word.includes(' ') ? `${word.slice(0, 8)}…` : word))
    .join(' ');
}

function bodyOf({ body }: RecordedRow): { readonly who?: string; readonly requester?: string } {
  try {
    const content: unknown = JSON.parse(body);
    if (typeof content !== 'object' || content === null) return {};
    return {
      ...('who' in content && typeof content.who === 'string' && { who: content.who }),
      ...('requester' in content &&
        typeof content.requester === 'string' && { requester: content.requester }),
    };
  } catch {
    return {};
  }
}

/** A gap between two rows of a thread. */
export interface Gap {
  readonly kind: 'elsewhere' | 'missing';
  readonly text: string;
}

/** Describes the gap between a row and the one above it; nothing when they are adjacent. */
export function gapBefore(row: RecordedRow, above: RecordedRow | undefined): Gap | undefined {
  const first = (above?.seq ?? 0) + 1;
  const last = row.seq - 1;
  if (first > last) return undefined;
  const rows = first === last ? `row ${first} is` : `rows ${first} to ${last} are`;
  // The row's previous hash is that of the row above, so the rows between them were removed.
  const isMissing = row.previousHash === (above?.hash ?? '');
  return isMissing
    ? { kind: 'missing', text: `${rows} missing` }
    : { kind: 'elsewhere', text: `${rows} not about this thread` };
}
