import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { type BringUpRedisOptions, bringUpRedis } from '../../../playground/redis/bring-up-redis.ts';
import { thisMachine } from '../../../playground/redis/machine.ts';
import { obtainServer } from '../../../playground/redis/obtain-server.ts';

/** The environment of this run without REDIS_URL, so that a private server is started. */
export function privateEnv(): NodeJS.ProcessEnv {
  const { REDIS_URL: _hidden, ...env } = process.env;
  return env;
}

/** The path of a real server, installed if the machine has none. */
export function realServer(): Promise<string> {
  return obtainServer(privateEnv(), thisMachine(), () => {});
}

/** Brings up a Redis that is stopped when the test ends, whatever the test did. */
export async function bringUpForTest(options: BringUpRedisOptions) {
  const redis = await bringUpRedis({ env: privateEnv(), ...options });
  onTestFinished(() => redis.stop());
  return redis;
}

/** Makes a folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Puts an executable shell script into a folder. */
export function writeScript(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Reads one setting of a running server. */
export function setting(url: string, name: string): Promise<string | undefined> {
  return askRedis(url, async (client) => {
    const reply = await client.call('CONFIG', 'GET', name);
    return Array.isArray(reply) ? String(reply[1]) : undefined;
  });
}

/** Tells whether something answers a PING there. */
export async function answers(url: string): Promise<boolean> {
  return askRedis(url, (client) => client.ping()).then(
    () => true,
    () => false,
  );
}

/** The message of the error that a promise must end with. */
export async function messageOf(failing: Promise<unknown>): Promise<string> {
  const outcome = await failing.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome.message;
  throw new Error('an error was expected, but there was none');
}
