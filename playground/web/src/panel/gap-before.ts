import type { RecordedRow } from '../../../record-protocol.ts';

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
  const isMissing = row.before === (above?.hash ?? '');
  return isMissing
    ? { kind: 'missing', text: `${rows} missing` }
    : { kind: 'elsewhere', text: `${rows} not about this thread` };
}
