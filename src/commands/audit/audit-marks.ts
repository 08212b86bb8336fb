import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import type { AuditMark } from '../../store/port/audit.ts';
import { Failure } from '../shared/command.ts';

const Marks = z.array(
  z.object({
    shard: z.int().nonnegative(),
    seq: z.int().nonnegative(),
    hash: z.string().regex(/^[0-9a-f]+$/),
  }),
);

/** Reads marks from a file; `undefined` if it is an export, which is JSON Lines and may be long. */
export async function marksUnlessExport(file: string): Promise<readonly AuditMark[] | undefined> {
  const opened = await open(file).catch(() => {
    throw new Failure(`${file} cannot be read`);
  });
  const { buffer } = await opened.read(Buffer.alloc(9), 0, 9, 0).finally(() => opened.close());
  return buffer.toString() === '{"type":"' ? undefined : readMarks(file);
}

/** Reads the marks of an earlier export; any other file is a `Failure`, never an empty list. */
export async function readMarks(file: string): Promise<readonly AuditMark[]> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Failure(`${file} cannot be read; it must be a file that --marks has written`);
  });
  try {
    return Marks.parse(JSON.parse(text));
  } catch {
    throw new Failure(`${file} holds no marks; it must be a file that --marks has written`);
  }
}

/** Writes the marks of an export atomically: a reader finds the old marks or the new ones. */
export async function writeMarks(file: string, marks: Iterable<AuditMark>): Promise<void> {
  const sorted = [...marks].sort((left, right) => left.shard - right.shard);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, `${JSON.stringify(sorted)}\n`);
    await rename(draft, file);
  } catch (error) {
    throw new Failure(`${file} cannot be written (${describeError(error)})`);
  }
}
