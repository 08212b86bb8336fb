import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditRow } from '../store/port/audit.ts';
import { Checkpoint } from './checkpoint.ts';

/** One line of an export: a row with its chain fields as they were written, or a checkpoint. */
export type ExportLine =
  | ({ readonly type: 'row'; readonly time: string } & AuditRow)
  | ({ readonly type: 'checkpoint' } & Checkpoint);

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
const Line = z.discriminatedUnion('type', [Row, Checkpoint.extend({ type: z.literal('checkpoint') })]);

export function rowLine(row: AuditRow): ExportLine {
  return { type: 'row', time: timeOf(row.at), ...row };
}

export function checkpointLine(checkpoint: Checkpoint): ExportLine {
  return { type: 'checkpoint', ...checkpoint };
}

/** Parses a line of an export; `undefined` if it is neither a row nor a checkpoint. */
export function parseLine(text: string): ExportLine | undefined {
  return Line.safeParse(tryParseJson(text)).data;
}

/** Writes a time for people; a row that somebody changed may have none, and is shown even so. */
export function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}
