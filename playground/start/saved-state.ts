import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { savedReads } from '../page-server/reads.ts';

const SavedFile = z.object({ workspace: z.record(z.string(), z.unknown()), reads: savedReads });

/** What a playground leaves for its next start beside the record: the workspace, and how far its people have read. */
export type SavedFile = z.infer<typeof SavedFile>;

/** Where in a data folder each part keeps what it has. */
export const KEPT = {
  slack: 'slack.json',
  redis: 'redis',
  botLog: 'bot.log',
  auditKey: 'audit-key.pem',
} as const;

/** Reads what an earlier start has kept; nothing where there was none, and one sentence where it cannot be used. */
export async function loadSaved(folder: string): Promise<SavedFile | undefined> {
  const file = join(folder, KEPT.slack);
  try {
    return SavedFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} holds no workspace that can be read; --reset forgets it and begins anew.`);
  }
}

/** Makes the key that signs the audit log, unless an earlier start has made it, and returns its file. */
export async function keepAuditKey(folder: string): Promise<string> {
  const file = join(folder, KEPT.auditKey);
  if (!existsSync(file)) await writeFile(file, createKeyPair().privatePem, { mode: 0o600 });
  return file;
}

/** Removes what earlier starts have kept, and nothing else that may lie in the folder. */
export async function forgetSaved(folder: string): Promise<void> {
  for (const name of Object.values(KEPT)) await rm(join(folder, name), { recursive: true, force: true });
}
