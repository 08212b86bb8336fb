import { z } from 'zod';
import type { AuditRow } from '../../src/store/port/audit.ts';

// A part that is gone must not hide the rest of the log; the row's hash no longer fits, which tells it.
const Part = z.string().catch('');
const Fields = z.object({ t: z.coerce.number().catch(0), e: Part, s: Part, d: Part, b: Part, h: Part });

/** A range of an audit stream as Redis answers it: the id of each entry and its fields, flat. */
export const StreamRange = z.array(z.tuple([z.string(), z.array(z.string())]));
export type StreamRange = z.infer<typeof StreamRange>;

/** Reads the rows of one shard's log; a damaged row is a row as well, so that the chain can tell what is wrong with it. */
export function parseAuditRows(shard: number, range: StreamRange): AuditRow[] {
  return range.map(([id, flat]) => {
    const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []));
    const { t, e, s, d, b, h } = Fields.parse(Object.fromEntries(pairs));
    const seq = Number(id.split('-')[0]);
    return { shard, seq, at: t, event: e, subject: s, detail: d, body: b, hash: h };
  });
}
