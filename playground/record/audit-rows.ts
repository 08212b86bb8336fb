import { z } from 'zod';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { ChainCheck } from '../../src/store/record/chain-check.ts';
import type { RecordedRow, ThreadRecord } from '../record-protocol.ts';

// A missing field must not hide the rest of the log; the row's hash no longer matches, which reveals it.
const Part = z.string().catch('');
const Fields = z.object({
  v: z.coerce.number().catch(0),
  t: z.coerce.number().catch(0),
  e: Part,
  s: Part,
  d: Part,
  b: Part,
  h: Part,
});

/** A range of an audit stream as Redis answers it: the id of each entry and its fields, flat. */
export const StreamRange = z.array(z.tuple([z.string(), z.array(z.string())]));
export type StreamRange = z.infer<typeof StreamRange>;

/** Parses rows of the log; a damaged row is kept, so that the chain check can report it. */
export function parseAuditRows(range: StreamRange): AuditRow[] {
  return range.map(([id, flat]) => {
    const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []));
    const { v, t, e, s, d, b, h } = Fields.parse(Object.fromEntries(pairs));
    const seq = Number(id.split('-')[0]);
    return { v, seq, at: t, event: e, subject: s, detail: d, body: b, hash: h };
  });
}

const Head = z.object({
  seq: z.coerce.number().catch(0),
  hash: z.string().catch(''),
  base: z.coerce.number().catch(0),
  base_hash: z.string().catch(''),
});

/** Walks the chain from end to end, which must have been read in one step, and gives each row its predecessor. */
export function checkRows(
  head: unknown,
  rows: readonly AuditRow[],
): { readonly rows: readonly RecordedRow[]; readonly chain: ThreadRecord['chain'] } {
  const { seq, hash, base, base_hash } = Head.parse(head);
  const check = new ChainCheck({ seq: base, hash: base_hash }, []);
  for (const row of rows) check.add(row);
  const problems = check.end({ seq, hash }).map(({ message }) => message);
  return {
    rows: rows.map((row, index) => ({ ...row, previousHash: rows[index - 1]?.hash ?? base_hash })),
    chain: { rows: check.rows, problems },
  };
}
