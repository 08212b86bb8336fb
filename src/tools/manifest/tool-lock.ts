import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';

/** The file beside the manifest that holds the digests of all definitions that an admin has accepted. */
export const LOCK_FILE = 'manifest.lock.json';

const LOCK_VERSION = 1;
const LockText = z.object({
  version: z.literal(LOCK_VERSION),
  servers: z.record(z.string(), z.record(z.string(), z.string())),
});

/** The definition of one tool of a server, as last listed. */
export interface ToolDefinition {
  /** The name of the server's entry in the manifest. */
  readonly server: string;
  readonly tool: string;
  readonly digest: string;
}

/** The definitions that an admin has accepted. */
export interface ToolLock {
  digestOf(server: string, tool: string): string | undefined;
  /** Lists the tools of a server that are locked; no other is offered. */
  toolsOf(server: string): readonly string[];
}

/** Parses the text of a lock file; `undefined` if there is none. A file that cannot be read locks every tool out. */
export function parseLock(text: string | undefined): ToolLock | undefined {
  if (text === undefined) return undefined;
  const servers = LockText.safeParse(tryParseJson(text)).data?.servers ?? {};
  return {
    digestOf: (server, tool) => servers[server]?.[tool],
    toolsOf: (server) => Object.keys(servers[server] ?? {}),
  };
}

export async function readLockText(folder: string): Promise<string | undefined> {
  return readFile(join(folder, LOCK_FILE), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return '';
  });
}

/** Writes the lock file, sorted, so that a change of one definition is a change of one line. */
export async function writeLock(folder: string, definitions: readonly ToolDefinition[]): Promise<void> {
  const servers: Record<string, Record<string, string>> = {};
  const sorted = [...definitions].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const { server, tool, digest } of sorted) servers[server] = { ...servers[server], [tool]: digest };
  const text = { version: LOCK_VERSION, servers } satisfies z.infer<typeof LockText>;
  await writeFile(join(folder, LOCK_FILE), `${JSON.stringify(text, null, 2)}\n`);
}

function nameOf({ server, tool }: ToolDefinition): string {
  return `${server}\n${tool}`;
}
