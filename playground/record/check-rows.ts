import { z } from 'zod';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { ChainCheck } from '../../src/store/record/chain-check.ts';
import type { RecordedRow, ThreadRecord } from '../record-protocol.ts';

const Head = z.object({
  seq: z.coerce.number().catch(0),
  hash: z.string().catch(''),
  base: z.coerce.number().catch(0),
  base_hash: z.string().catch(''),
});

/** Walks one shard's chain from end to end, which must have been read in one step, and gives each row its predecessor. */
export function checkRows(
  shard: number,
  head: unknown,
  rows: readonly AuditRow[],
): { readonly rows: readonly RecordedRow[]; readonly chain: ThreadRecord['chain'] } {
  const { seq, hash, base, base_hash } = Head.parse(head);
  const check = new ChainCheck({ shard, seq: base, hash: base_hash }, []);
  for (const row of rows) check.add(row);
  const problems = check.end({ shard, seq, hash }).map(({ message }) => message);
  return {
    rows: rows.map((row, index) => ({ ...row, before: rows[index - 1]?.hash ?? base_hash })),
    chain: { rows: check.rows, problems },
  };
}
