import type { AuditMark, AuditStore } from '../store/port/audit.ts';
import { parseCheckpoint } from './checkpoint.ts';
import type { Sink } from './sinks.ts';

export interface TrimOptions {
  /** The configured sinks; only what all of them have is removed. */
  readonly sinks: readonly Pick<Sink, 'name'>[];
  readonly olderThanMs: number;
}

/**
 * Removes old rows and checkpoints from Redis. A row goes only if every sink has it and, where checkpoints exist, the last one covers
 * it. Without a sink nothing is removed. The last checkpoint stays.
 */
export async function trimExported(
  store: AuditStore,
  { sinks, olderThanMs }: TrimOptions,
): Promise<{ readonly rows: number; readonly checkpoints: number }> {
  const progress = await store.readProgress();
  const known = sinks.flatMap(({ name }) => progress.get(name) ?? []);
  if (sinks.length === 0 || known.length < sinks.length) return { rows: 0, checkpoints: 0 };
  const before = Date.now() - olderThanMs;
  const newest = await store.lastCheckpoint();
  const covered = newest === undefined ? undefined : (parseCheckpoint(newest.text)?.heads ?? []);
  const limits = [...known.map(({ marks }) => marks), ...(covered === undefined ? [] : [covered])];

  let rows = 0;
  for (const { head } of await store.auditEnds()) {
    const limit = Math.min(...limits.map((marks) => seqIn(marks, head.shard)));
    const last = await lastBefore(store, head.shard, limit, before);
    if (last === undefined) continue;
    const trimmed = await store.trimAudit(last);
    if (trimmed.outcome === 'trimmed') rows += trimmed.rows;
  }
  const exported = Math.min(...known.map(({ checkpoint }) => checkpoint), (newest?.n ?? 1) - 1);
  return { rows, checkpoints: await trimCheckpoints(store, exported, before) };
}

function seqIn(marks: readonly AuditMark[], shard: number): number {
  return marks.find((mark) => mark.shard === shard)?.seq ?? 0;
}

/** Finds the last row up to a number that is older than a time; every row before it is older as well. */
async function lastBefore(
  store: AuditStore,
  shard: number,
  limit: number,
  before: number,
): Promise<AuditMark | undefined> {
  let last: AuditMark | undefined;
  for await (const { seq, hash, at } of store.readAudit(shard)) {
    if (seq > limit || at >= before) break;
    last = { shard, seq, hash };
  }
  return last;
}

async function trimCheckpoints(store: AuditStore, limit: number, before: number): Promise<number> {
  let last = 0;
  for await (const { n, text } of store.readCheckpoints()) {
    if (n > limit || (parseCheckpoint(text)?.at ?? 0) >= before) break;
    last = n;
  }
  return last === 0 ? 0 : store.trimCheckpoints(last + 1);
}
