import { type FileHandle, open } from 'node:fs/promises';
import { parseLine } from '../../audit/export-line.ts';
import { readLines } from '../../audit/read-lines.ts';
import type { AuditRow } from '../../store/port/audit.ts';
import { Failure } from '../shared/command.ts';

/** A row of a file: its place in time and in the file. The row itself is read again when its turn comes. */
interface Placed {
  readonly time: number;
  readonly shard: number;
  readonly seq: number;
  readonly offset: number;
  readonly length: number;
}

/** The rows of an export that a caller wants, and a function that is told of each row whose contents were erased. */
export interface ExportReader {
  isWanted(event: string): boolean;
  onErased(row: Pick<AuditRow, 'event' | 'at'>): void;
}

/**
 * Yields the wanted rows of an export in the order of time. A file holds its rows shard by shard and may repeat some, so it is read twice: first for the places of the
 * wanted rows, then row by row in the order of time. Only the places are kept in memory. Any other file is a `Failure`.
 */
export async function* readExport(file: string, reader: ExportReader): AsyncGenerator<AuditRow> {
  const handle = await open(file).catch(() => {
    throw new Failure(`${file} cannot be read; it must be an export of the audit log`);
  });
  try {
    yield* readInOrder(handle, await findPlaces(handle, file, reader));
  } finally {
    await handle.close();
  }
}

async function findPlaces(
  handle: FileHandle,
  file: string,
  { isWanted, onErased }: ExportReader,
): Promise<readonly Placed[]> {
  const places: Placed[] = [];
  /** The latest row of each shard: its rows stay in their order even if a clock went back. */
  const latest = new Map<number, { readonly seq: number; readonly time: number }>();
  let number = 0;
  for await (const { text, offset, length } of readLines(
    handle.createReadStream({ autoClose: false, start: 0 }),
  )) {
    number += 1;
    if (text === '') continue;
    const line = parseLine(text);
    if (line === undefined) throw new Failure(`line ${number} of ${file} is no line of an audit export`);
    if (line.type === 'checkpoint') continue;
    const { shard, seq, at, event } = line;
    const last = latest.get(shard) ?? { seq: 0, time: at };
    const isNext = seq > last.seq;
    const time = isNext ? Math.max(at, last.time) : at;
    if (isNext) latest.set(shard, { seq, time });
    if (line.type === 'erased') onErased(line);
    else if (isWanted(event)) places.push({ time, shard, seq, offset, length });
  }
  if (latest.size === 0) throw new Failure(`${file} holds no rows of an audit log`);
  return places.sort(
    (left, right) => left.time - right.time || left.shard - right.shard || left.seq - right.seq,
  );
}

async function* readInOrder(handle: FileHandle, places: readonly Placed[]): AsyncGenerator<AuditRow> {
  let previous: Placed | undefined;
  for (const place of places) {
    // A sink gets each row at least once.
    const isRepeated = previous?.shard === place.shard && previous.seq === place.seq;
    previous = place;
    if (isRepeated) continue;
    const { buffer } = await handle.read(Buffer.alloc(place.length), 0, place.length, place.offset);
    const line = parseLine(buffer.toString());
    if (line?.type === 'row') yield line;
  }
}
