import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, onTestFinished } from 'vitest';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Carries out a command line with just this environment. */
export async function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  prefix?: string,
): Promise<Ran> {
  let [out, error] = ['', ''];
  const code = await runCommandLine(argv, {
    environment,
    write: async (text) => {
      out += text;
    },
    writeError: async (text) => {
      error += text;
    },
    ...(prefix !== undefined && { prefix }),
  });
  return { code, out, error };
}

/** Gives each test of a file a record of its own. */
export function eachWithRecord() {
  const opened: TestRedis[] = [];
  let redis: TestRedis;
  let store: Store;
  beforeEach(() => {
    redis = connectTestRedis();
    opened.push(redis);
    store = openRedisStore(redis);
  });
  afterAll(async () => {
    await Promise.all(opened.map((each) => each.close()));
  });
  return {
    get redis() {
      return redis;
    },
    get store() {
      return store;
    },
    /** Carries out a command on the record. */
    run: (argv: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      run(argv, { REDIS_URL: redis.url, ...environment }, redis.prefix),
  };
}

/** The lines of an output as JSON. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** A folder that is gone after the test. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-commands-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a manifest into a folder of its own and gives its path. */
export function writeManifest(text: string, folder = newFolder()): string {
  const file = join(folder, 'manifest.yml');
  writeFileSync(file, text);
  return file;
}

/** The scopes of `GOOD`. */
export const GOOD_SCOPES = appFromManifest(SHIPPED_SLACK).scopes ?? [];

export const GOOD = `policies: { default: { approvers: [S0APPROVE1] } }
tools: {}
`;

/** Writes a key into a folder and gives its path. */
export function writeKey(folder: string, name: string, pem: string): string {
  const file = join(folder, name);
  writeFileSync(file, pem);
  return file;
}
