import { afterAll, beforeEach } from 'vitest';
import type { AuditMark, AuditProblem, AuditRow } from '../../../src/store/port/audit.ts';
import { Keys } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';

/** A row of the log as Redis stores it. */
export interface Entry {
  readonly id: string;
  readonly fields: string[];
}

/** A log of its own for every test, and ways to look at it and to damage it. */
export interface AuditBench {
  readonly store: Store;
  readonly redis: TestRedis;
  readonly keys: Keys;
}

/** Gives every test of a file an empty log; what it returns gives the current one. */
export function useAuditLog(): () => AuditBench {
  const opened: TestRedis[] = [];
  let bench: AuditBench | undefined;
  beforeEach(() => {
    const redis = connectTestRedis();
    opened.push(redis);
    bench = { redis, store: openRedisStore(redis), keys: new Keys(redis.prefix) };
  });
  afterAll(async () => {
    await Promise.all(opened.map((redis) => redis.close()));
  });
  return () => {
    if (bench === undefined) throw new Error('No log was opened');
    return bench;
  };
}

export async function rowsOf(store: Store, after = 0): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of store.exportAudit(after)) rows.push(row);
  return rows;
}

/** The last row of an export. */
export function markOf(rows: readonly AuditRow[]): AuditMark {
  const last = rows.at(-1);
  if (last === undefined) throw new Error('The log is empty');
  return { seq: last.seq, hash: last.hash };
}

/** Writes ten notes. */
export async function writeTen(store: Store): Promise<void> {
  for (let index = 1; index <= 10; index += 1)
    await store.note(`note-${index}`, 'configured', 'manifest.yml', { change: index });
}

/** Changes the log behind the store's back; a stream cannot be edited, so it is written anew. */
export async function tamper(
  { redis, keys }: Pick<AuditBench, 'redis' | 'keys'>,
  change: (entries: Entry[]) => Entry[],
): Promise<void> {
  const key = keys.shared('audit');
  const entries = (await redis.client.xrange(key, '-', '+')).map(([id, fields]) => ({ id, fields }));
  await redis.client.del(key);
  for (const { id, fields } of change(entries)) await redis.client.xadd(key, id, ...fields);
}

export function withField(fields: readonly string[], name: string, value: string): string[] {
  return fields.map((field, index) => (fields[index - 1] === name && index % 2 === 1 ? value : field));
}

export async function problemsOf(
  store: Store,
  marks: readonly AuditMark[] = [],
): Promise<readonly AuditProblem[]> {
  return (await verifyChain(store, marks)).problems;
}
