import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { savedReadPositions } from '../page-server/read-positions.ts';

const SavedFile = z.object({ workspace: z.record(z.string(), z.unknown()), reads: savedReadPositions });

/** What a playground leaves for its next start beside the record: the workspace, and how far its people have read. */
export type SavedFile = z.infer<typeof SavedFile>;

/** Where in a data folder each part keeps what it has. */
export const FILES = { slack: 'slack.json', redis: 'redis', botLog: 'bot.log' } as const;

/** Reads what an earlier start has kept; nothing where there was none, and one sentence where it cannot be used. */
export async function loadSaved(folder: string): Promise<SavedFile | undefined> {
  const file = join(folder, FILES.slack);
  try {
    return SavedFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} holds no workspace that can be read; --reset forgets it and begins anew.`);
  }
}

/** Removes what earlier starts have kept, and nothing else that may lie in the folder. */
export async function deleteSaved(folder: string): Promise<void> {
  for (const name of Object.values(FILES)) await rm(join(folder, name), { recursive: true, force: true });
}
