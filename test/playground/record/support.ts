import { afterAll, beforeEach } from 'vitest';
import { openRecordReader, type RecordReader } from '../../../playground/record/open-record-reader.ts';
import type { RecordedRequest, ThreadRecord } from '../../../playground/record-protocol.ts';
import { Keys } from '../../../src/store/port/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { readableName } from '../../../src/tools/presentation/formats.ts';
import type { AuditBench } from '../../store/audit/support.ts';
import type { RequestChanges } from '../../store/support.ts';
import { presentedAs } from '../../support/presented-as.ts';
import { connectTestRedis } from '../../support/redis.ts';

/** A private record, the reader under test, and helpers to damage the data. */
export interface RecordBench extends AuditBench {
  readonly reader: RecordReader;
}

/** Provides an empty record for every test of a file; returns an accessor for the current one. */
export function useRecord(): () => RecordBench {
  const opened: RecordBench[] = [];
  beforeEach(async () => {
    const redis = connectTestRedis();
    const reader = await openRecordReader({ redisUrl: redis.url, prefix: redis.prefix });
    opened.push({ redis, reader, store: openRedisStore(redis), keys: new Keys(redis.prefix) });
  });
  afterAll(async () => {
    await Promise.all(opened.flatMap(({ reader, redis }) => [reader.close(), redis.close()]));
  });
  return () => {
    const bench = opened.at(-1);
    if (bench === undefined) throw new Error('No record was opened');
    return bench;
  };
}

/** The details that the bot keeps of a call. */
export function callOf(name: string, input: Readonly<Record<string, string | number>>): RequestChanges {
  const interrupt = { id: 'pause-1', toolRequest: { name, ref: 'call-1', input } };
  return { details: { interrupt, idempotencyKey: 'key-1', presented: presentedAs(readableName(name)) } };
}

/** A thread that must be on record. */
export async function readFound({ reader }: RecordBench, threadId: string): Promise<ThreadRecord> {
  const record = await reader.read(threadId);
  if (record === undefined) throw new Error(`The record holds nothing of ${threadId}`);
  return record;
}

/** The only request of a thread. */
export async function readOnly(bench: RecordBench, threadId: string): Promise<RecordedRequest> {
  const { requests } = await readFound(bench, threadId);
  const [only, ...others] = requests;
  if (only === undefined || others.length > 0) throw new Error(`The thread has ${requests.length} requests`);
  return only;
}

/** The bytes of every key of the record. */
export async function dumpOf({ redis: { client, prefix } }: RecordBench): Promise<Record<string, string>> {
  const keys = (await client.keys(`{${prefix}}:*`)).sort();
  const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
  return Object.fromEntries(keys.map((key, index) => [key, dumps[index]?.toString('hex') ?? '']));
}
