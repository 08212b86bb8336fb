import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { sealOf } from '../store/record/chain-check.ts';
import { type ErasedLine, type FileLine, parseLine, type RowLine, readLines } from './export-line.ts';

export type EraseExportResult =
  | { readonly outcome: 'erased'; readonly rows: number }
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
 * replaced in place, because a bot may be appending to the file.
 */
export async function eraseInExport(
  path: string,
  isNamed: (text: string) => boolean,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<EraseExportResult> {
  const changes: Change[] = [];
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
    changes.push({ at, before: Buffer.from(text), after: padded(erasedLine(line, seal), length) });
  }
  if (!dryRun) await replaceAll(path, changes);
  return { outcome: 'erased', rows: changes.length };
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
