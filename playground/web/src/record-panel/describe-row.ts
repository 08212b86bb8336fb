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

/** Who or what made a row: a person by what the row says of them, else what makes rows of this kind. */
export function actorOf(row: RecordedRow, name: (id: string) => string): string {
  const { who, requester } = bodyOf(row);
  const person = who ?? requester ?? (row.event === 'rejected' ? row.detail : undefined);
  return person === undefined ? (ACTORS[row.event] ?? 'the record') : name(person);
}

/** What the record knew when it wrote the row, with names for ids and long words cut. */
export function describeDetail({ detail }: RecordedRow, name: (id: string) => string): string {
  return detail
    .split(' ')
    .map((word) => name(word))
    .map((word) => (word.length > MAX_WORD_LENGTH && !word.includes(' ') ? `${word.slice(0, 8)}…` : word))
    .join(' ');
}

function bodyOf({ body }: RecordedRow): { readonly who?: string; readonly requester?: string } {
  try {
    const said: unknown = JSON.parse(body);
    if (typeof said !== 'object' || said === null) return {};
    return {
      ...('who' in said && typeof said.who === 'string' && { who: said.who }),
      ...('requester' in said && typeof said.requester === 'string' && { requester: said.requester }),
    };
  } catch {
    return {};
  }
}

/** What lies between two rows of a thread that are not neighbours by their numbers. */
export interface Gap {
  readonly kind: 'elsewhere' | 'missing';
  readonly text: string;
}

/** Says what lies between a row and the one drawn above it; nothing when it follows at once. */
export function gapBefore(row: RecordedRow, above: RecordedRow | undefined): Gap | undefined {
  const first = (above?.seq ?? 0) + 1;
  const last = row.seq - 1;
  if (first > last) return undefined;
  const rows = first === last ? `row ${first} is` : `rows ${first} to ${last} are`;
  // The log itself gives the one above as the row before this one, so what stood between them is gone.
  const isMissing = row.previousHash === (above?.hash ?? '');
  return isMissing
    ? { kind: 'missing', text: `${rows} missing` }
    : { kind: 'elsewhere', text: `${rows} not about this thread` };
}
