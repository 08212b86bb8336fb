import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type Exporter, startExporter } from '../../src/audit/exporter.ts';
import { fileMemory, type RefusalCode } from '../../src/audit/signer.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import type { AuditSettings } from '../../src/audit/sinks.ts';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { Keys } from '../../src/store/port/keys.ts';
import type { Store } from '../../src/store/port/store.ts';
import { linkOf } from '../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { newFolder, writeKey } from '../commands/support.ts';
import { approve, ask, attempt, outcome, type RequestChanges } from '../store/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';

const NO_SINKS: AuditSettings = { file: undefined, http: undefined, retentionMs: undefined };

/** The log of an exporter. */
export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

/** An empty log with a signing key, an export file and ways to tamper with Redis. */
export interface AuditWorld {
  readonly redis: TestRedis;
  readonly store: Store;
  readonly keys: Keys;
  readonly folder: string;
  readonly file: string;
  readonly publicKeyFile: string;
  readonly privateKeyFile: string;
  /** The memory of the signer outside Redis. */
  readonly stateFile: string;
  readonly logged: Logged[];
  /** The reasons for which nothing was signed, in their order, each once. */
  readonly refusals: RefusalCode[];
  /** Signs and exports once, as a bot does that starts and stops. */
  exportOnce(settings?: Partial<AuditSettings>): Promise<void>;
  /** Keeps an exporter running until the test ends. */
  keepExporting(settings: Partial<AuditSettings>, unsignedAfterMs?: number): Promise<Exporter>;
}

export async function openAuditWorld(): Promise<AuditWorld> {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  const folder = newFolder();
  const { privatePem, publicPem } = createKeyPair();
  const privateKeyFile = writeKey(folder, 'private.pem', privatePem);
  const publicKeyFile = writeKey(folder, 'public.pem', publicPem);
  const file = join(folder, 'audit.jsonl');
  const key = await readSigningKey({ file: privateKeyFile });
  const logged: Logged[] = [];
  const note = (level: Logged['level']) => (_fields: object, message: string) =>
    void logged.push({ level, message });
  const log = { info: note('info'), warn: note('warn'), error: note('error') };
  const stateFile = `${privateKeyFile}.state`;
  const refusals: RefusalCode[] = [];
  const start = (settings: Partial<AuditSettings>, unsignedAfterMs = 300_000) =>
    startExporter({
      store,
      settings: () => ({ ...NO_SINKS, ...settings }),
      key,
      memory: fileMemory(stateFile),
      log,
      onRefusal: ({ code }, isNew) => {
        if (isNew) refusals.push(code);
      },
      everyMs: 20,
      checkpointEveryMs: 0,
      unsignedAfterMs,
    });
  return {
    ...{ redis, store, keys: new Keys(redis.prefix), folder, file, publicKeyFile, privateKeyFile },
    ...{ stateFile, logged, refusals },
    exportOnce: async (settings = { file }) => start(settings).stop(),
    keepExporting: async (settings, unsignedAfterMs) => {
      const exporter = start(settings, unsignedAfterMs);
      onTestFinished(() => exporter.stop());
      return exporter;
    },
  };
}

/** Has Ann approve a refund that then runs, and returns the request's id. */
export async function approveRefund(store: Store, changes: RequestChanges = {}): Promise<string> {
  const id = await ask(store, changes);
  await store.vote(id, approve('U-ann'));
  await store.start(id, attempt('first'));
  await store.finish(id, outcome('first'));
  return id;
}

export async function allRows(store: Store): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of store.exportAudit()) rows.push(row);
  return rows;
}

/** Rewrites the log with the knowledge of a person who can write to Redis: changed rows, and a chain that fits them. */
export async function rewriteLog(
  { redis, keys }: Pick<AuditWorld, 'redis' | 'keys'>,
  change: (text: string) => string,
): Promise<void> {
  const key = keys.shared('audit');
  const entries = await redis.client.xrange(key, '-', '+');
  await redis.client.del(key);
  let before = '';
  for (const [id, fields] of entries) {
    const [, t = '', , e = '', , s = '', , d = '', , b = '', , , , v = ''] = fields;
    const row = { v: Number(v), seq: Number.parseInt(id, 10), at: Number(t), event: e, subject: s };
    const forged = { ...row, detail: change(d), body: change(b) };
    before = linkOf(forged, before);
    await redis.client.xadd(
      key,
      id,
      't',
      t,
      'e',
      e,
      's',
      s,
      'd',
      forged.detail,
      'b',
      forged.body,
      'h',
      before,
      'v',
      v,
    );
  }
  await redis.client.hset(keys.shared('head'), 'hash', before);
}

/** Keeps a copy of the log, and puts it back. */
export async function backUp({ redis, keys }: AuditWorld): Promise<() => Promise<void>> {
  const names = ['audit', 'head', 'checkpoints'] as const;
  const copies = await Promise.all(names.map((name) => redis.client.dumpBuffer(keys.shared(name))));
  return async () => {
    for (const [index, name] of names.entries())
      await redis.client.restore(keys.shared(name), 0, copies[index] ?? Buffer.alloc(0), 'REPLACE');
  };
}

export function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

export const eventually = <Result>(look: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(look, { timeout: PATIENCE_MS, interval: 20 });
