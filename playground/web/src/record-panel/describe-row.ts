import type { RecordedRow } from '../../../record-protocol.ts';

const MAX_WORD_LENGTH = 24;
const ACTORS: Readonly<Record<string, string>> = {
  reminded: 'time',
  escalated: 'time',
  expired: 'time',
  retried: 'time',
  unknown: 'time',
  started: 'the bot',
  succeeded: 'the bot',
  failed: 'the bot',
  late: 'the bot',
  superseded: 'the bot',
  abandoned: 'the bot',
  quarantined: 'the bot',
  approved: 'the quorum',
};

/** Returns the actor of a row: the person named in it, or else the part that writes such rows. */
export function actorOf(row: RecordedRow, name: (id: string) => string): string {
  const { who, requester } = bodyOf(row);
  const person = who ?? requester ?? (row.event === 'rejected' ? row.detail : undefined);
  return person === undefined ? (ACTORS[row.event] ?? 'the record') : name(person);
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
