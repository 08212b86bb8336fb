import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import { sealOf } from '../store/record/chain-check.ts';
import { type ErasedLine, type FileLine, parseLine, type RowLine, readLines } from './export-line.ts';

export type EraseExportResult =
  /** The numbers of the rows that lost their contents, or would. */
  | { readonly outcome: 'erased'; readonly rows: readonly number[] }
  /** Without all earlier rows of the chain the seal of a row cannot be computed. */
  | { readonly outcome: 'incomplete'; readonly line: number }
  | { readonly outcome: 'unreadable'; readonly line: number };

interface Change {
  readonly at: number;
  readonly before: Buffer;
  readonly after: Buffer;
}

/**
 * Removes the contents of the rows that name a person from an exported file. Such a row keeps its number, its time, its event and the two
 * hashes that the next row and the next checkpoint cover, so the file can still be verified. Each line keeps its length and is
 * replaced in place, because a bot may be appending to the file. Only rows that `only` names are erased, none without it: a row of the log has
 * to name them first.
 */
export async function eraseInExport(
  path: string,
  isNamed: (text: string) => boolean,
  { only }: { readonly only?: ReadonlySet<number> } = {},
): Promise<EraseExportResult> {
  const changes: Change[] = [];
  const found: number[] = [];
  const seals = new Map<number, string>();
  let number = 0;
  for await (const { text, offset: at, length } of readLines(createReadStream(path))) {
    number += 1;
    const line = parseLine(text);
    if (line === undefined) return { outcome: 'unreadable', line: number };
    if (line.type === 'checkpoint') continue;
    const seal = sealIn(line, seals);
    if (seal === undefined) return { outcome: 'incomplete', line: number };
    seals.set(line.seq, seal);
    if (line.type === 'erased' || line.event === 'erased') continue;
    if (!isNamed([line.subject, line.detail, line.body].join('\n'))) continue;
    found.push(line.seq);
    if (only?.has(line.seq) === true)
      changes.push({ at, before: Buffer.from(text), after: padded(erasedLine(line, seal), length) });
  }
  await replaceAll(path, changes);
  return { outcome: 'erased', rows: only === undefined ? found : found.filter((seq) => only.has(seq)) };
}

function sealIn(
  line: Exclude<FileLine, { type: 'checkpoint' }>,
  seals: ReadonlyMap<number, string>,
): string | undefined {
  if (line.type === 'erased') return line.sha256;
  const before = line.seq === 1 ? '' : seals.get(line.seq - 1);
  return before === undefined ? undefined : sealOf(line, before);
}

function erasedLine({ seq, at, event, hash }: RowLine, sha256: string): ErasedLine {
  return { type: 'erased', seq, at, event, hash, sha256 };
}

/** Writes a line with spaces at its end, so that it takes as many bytes as the one before. */
function padded(line: ErasedLine, length: number): Buffer {
  const text = JSON.stringify(line);
  if (text.length > length) throw new Error(`Row ${line.seq} is too short to be replaced`);
  return Buffer.from(text.padEnd(length));
}

async function replaceAll(path: string, changes: readonly Change[]): Promise<void> {
  const file = await open(path, 'r+');
  try {
    for (const { at, before, after } of changes) {
      const { buffer } = await file.read(Buffer.alloc(before.length), 0, before.length, at);
      if (!buffer.equals(before))
        throw new Error(`${path} was changed by another program; nothing more is erased`);
      await file.write(after, 0, after.length, at);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Writes the numbers of erased rows as ranges, for the row of the log that names them. */
export function erasedRanges(rows: Iterable<number>): [first: number, last: number][] {
  const ranges: [number, number][] = [];
  for (const seq of [...new Set(rows)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === seq - 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
}

const Erasure = z.object({ erased_rows: z.array(z.tuple([z.int(), z.int()])) });

/** Reads which rows of exports a row of the log names as erased. */
export function erasedBy({
  event,
  body,
}: Pick<RowLine, 'event' | 'body'>): readonly (readonly [number, number])[] {
  return event === 'erased' ? (Erasure.safeParse(tryParseJson(body)).data?.erased_rows ?? []) : [];
}
