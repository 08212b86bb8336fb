import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditRow } from '../store/port/audit.ts';
import { Checkpoint } from './checkpoint.ts';

/** A row with its chain fields as they were written. */
export type RowLine = { readonly type: 'row'; readonly time: string } & AuditRow;

/** The place of a row whose contents `countersign erase` removed, with both hashes of the chain up to it. */
export type ErasedLine = { readonly type: 'erased'; readonly sha256: string } & Pick<
  AuditRow,
  'seq' | 'at' | 'event' | 'hash'
>;

/** One line as it is exported. */
export type ExportLine = RowLine | ({ readonly type: 'checkpoint' } & Checkpoint);

/** One line of an exported file. */
export type FileLine = ExportLine | ErasedLine;

const Row = z.object({
  type: z.literal('row'),
  v: z.int().positive(),
  time: z.string(),
  seq: z.int().positive(),
  at: z.number(),
  event: z.string(),
  subject: z.string(),
  detail: z.string(),
  body: z.string(),
  hash: z.string(),
});
const Erased = Row.pick({ seq: true, at: true, event: true, hash: true }).extend({
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

/** A line of a file, with its place in bytes. */
interface PlacedLine {
  readonly text: string;
  readonly offset: number;
  readonly length: number;
}

/** Splits the bytes of a file at each newline and nowhere else: `readline` takes U+2028 and U+2029 for ends of lines too, and JSON may hold them. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedLine> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield { text: rest.toString('utf8', 0, end), offset, length: end };
      offset += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield { text: rest.toString('utf8'), offset, length: rest.length };
}
