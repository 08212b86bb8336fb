import { rowWords } from '../../../../src/page/row-words.ts';
import type { RecordedRow } from '../../../record-protocol.ts';

const MAX_WORD_LENGTH = 24;
/** Says what a row is about, as the bot's own page does: `Alice approved (1 of 2)`, `Approved: quorum reached (2 of 2)`. */
export function describeRow(row: RecordedRow, name: (id: string) => string): string {
  const { who, words } = rowWords(row);
  return who === undefined ? words : `${name(who)} ${words}`;
}

/** Describes a row's detail, with names instead of ids and long words shortened. */
export function describeDetail({ detail }: RecordedRow, name: (id: string) => string): string {
  return detail
    .split(' ')
    .map((word) => name(word))
    .map((word) => (word.length > MAX_WORD_LENGTH && !word.includes(' ') ? `${word.slice(0, 8)}…` : word))
    .join(' ');
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
