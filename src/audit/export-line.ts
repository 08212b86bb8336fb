import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditRow } from '../store/port/audit.ts';
import { Checkpoint } from './checkpoint.ts';

/** A row with its chain fields as they were written. */
export type RowLine = { readonly type: 'row'; readonly time: string } & AuditRow;

/** The place of a row whose contents `countersign erase` removed, with both hashes of the chain up to it. */
export type ErasedLine = { readonly type: 'erased' } & Pick<
  AuditRow,
  'shard' | 'seq' | 'at' | 'event' | 'hash'
> & {
    readonly sha256: string;
  };

/** One line as it is exported. */
export type ExportLine = RowLine | ({ readonly type: 'checkpoint' } & Checkpoint);

/** One line of an exported file. */
export type FileLine = ExportLine | ErasedLine;

const Row = z.object({
  type: z.literal('row'),
  time: z.string(),
  shard: z.int().nonnegative(),
  seq: z.int().positive(),
  at: z.number(),
  event: z.string(),
  subject: z.string(),
  detail: z.string(),
  body: z.string(),
  hash: z.string(),
});
const Erased = Row.pick({ shard: true, seq: true, at: true, event: true, hash: true }).extend({
  type: z.literal('erased'),
  sha256: z.string(),
});
const Line = z.discriminatedUnion('type', [
  Row,
  Erased,
  Checkpoint.extend({ type: z.literal('checkpoint') }),
]);

export function rowLine(row: AuditRow): ExportLine {
  return { type: 'row', time: timeOf(row.at), ...row };
}

export function checkpointLine(checkpoint: Checkpoint): ExportLine {
  return { type: 'checkpoint', ...checkpoint };
}

/** Parses a line of an export; `undefined` if it is neither a row nor a checkpoint. */
export function parseLine(text: string): FileLine | undefined {
  return Line.safeParse(tryParseJson(text)).data;
}

/** Writes a time for people; a row that somebody changed may have none, and is shown even so. */
export function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}
