import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { savedReadPositions } from '../page-server/read-positions.ts';

const SavedFile = z.object({ workspace: z.record(z.string(), z.unknown()), reads: savedReadPositions });

/** State kept for the next start besides the record: the workspace and the read positions. */
export type SavedFile = z.infer<typeof SavedFile>;

/** File names in a data folder. */
export const FILES = {
  slack: 'slack.json',
  redis: 'redis',
  botLog: 'bot.log',
  auditKey: 'audit-key.pem',
  auditState: 'audit-key.pem.state',
  job: 'job',
} as const;

/** Loads the state of an earlier start; nothing when there is none, one error sentence when it is unreadable. */
export async function loadSaved(folder: string): Promise<SavedFile | undefined> {
  const file = join(folder, FILES.slack);
  try {
    return SavedFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read; use --reset to delete it and start over.`);
  }
}

/** Makes the key that signs the audit log, unless an earlier start has made it, and returns its file. */
export async function keepAuditKey(folder: string): Promise<string> {
  const file = join(folder, FILES.auditKey);
  if (!existsSync(file)) await writeFile(file, createKeyPair().privatePem, { mode: 0o600 });
  return file;
}

/** Deletes the state of earlier starts, and no other files in the folder. */
export async function deleteSaved(folder: string): Promise<void> {
  for (const name of Object.values(FILES)) await rm(join(folder, name), { recursive: true, force: true });
}
