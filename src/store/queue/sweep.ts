import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineLog, WorkKind } from '../port/engine.ts';
import type { DueWork, Store } from '../port/store.ts';
import { SHARDS } from '../record/keys.ts';
import { TaskPool } from './task-pool.ts';
import { nameOfWork, type Work } from './work.ts';

export interface SweepOptions {
  readonly store: Pick<Store, 'due'>;
  /** Does the work and returns whether it succeeded; never throws. */
  readonly attempt: (work: Work) => Promise<boolean>;
  readonly everyMs: number;
  /** The least time that work has been due; work that is due only now has usually been woken. */
  readonly overdueMs: number;
  /** The most work of each kind in one shard and one sweep. */
  readonly limit: number;
  readonly concurrency: Readonly<Record<WorkKind, number>>;
  readonly log: EngineLog;
}

export interface Sweep {
  stop(): Promise<void>;
}

interface Rest {
  readonly shard: number;
  readonly failures: number;
  readonly until: number;
}

const MAX_QUEUED = 1000;
const LONGEST_REST_MS = 300_000;

/** Finds work that is due and was not woken, as long as the process lives. Needs nothing but the record. */
export function startSweep(options: SweepOptions): Sweep {
  const { store, attempt, everyMs, overdueMs, limit, concurrency, log } = options;
  const pools: Record<WorkKind, TaskPool> = {
    thread: new TaskPool(concurrency.thread, MAX_QUEUED),
    run: new TaskPool(concurrency.run, MAX_QUEUED),
    outbox: new TaskPool(concurrency.outbox, MAX_QUEUED),
    timer: new TaskPool(concurrency.timer, MAX_QUEUED),
  };
  const resting = new Map<string, Rest>();
  const stopping = new AbortController();

  async function sweepShard(shard: number): Promise<void> {
    // Work that keeps failing stays at the head of the list; without extra room it would hide the work behind it.
    const failing = [...resting.values()].filter((rest) => rest.shard === shard).length;
    const due = await store.due(shard, { overdueMs, limit: limit + failing });
    if (stopping.signal.aborted) return;
    for (const work of workIn(shard, due)) offer(shard, work);
  }

  function offer(shard: number, work: Work): void {
    const name = nameOfWork(work);
    const rest = resting.get(name);
    if (rest !== undefined && rest.until > Date.now()) return;
    pools[work.kind].offer(name, async () => {
      if (await attempt(work)) {
        resting.delete(name);
        return;
      }
      const failures = (rest?.failures ?? 0) + 1;
      const restMs = Math.min(everyMs * 2 ** failures, LONGEST_REST_MS);
      resting.set(name, { shard, failures, until: Date.now() + restMs });
    });
  }

  async function sweepOnce(): Promise<void> {
    const results = await Promise.allSettled([...Array(SHARDS).keys()].map(sweepShard));
    const failed = results.filter((result) => result.status === 'rejected');
    const [first] = failed;
    if (first !== undefined && !stopping.signal.aborted) {
      log.warn({ err: first.reason }, `The sweep could not look into ${failed.length} of ${SHARDS} shards.`);
    }
    forgetOldRests(resting);
  }

  async function sweepUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Jitter, so that processes that were started together do not sweep at the same moment.
      const pauseMs = everyMs * (0.5 + Math.random());
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await sweepOnce();
    }
  }

  const sweeping = sweepUntilStopped();
  return {
    async stop() {
      stopping.abort();
      const ended = Object.values(pools).map((pool) => pool.close());
      await Promise.all([sweeping, ...ended]);
    },
  };
}

function workIn(shard: number, due: DueWork): Work[] {
  return [
    ...due.timers.map(({ kind, id }): Work => ({ kind: 'timer', timer: kind, id })),
    ...due.runs.map((requestId): Work => ({ kind: 'run', requestId })),
    ...due.threads.map((threadId): Work => ({ kind: 'thread', threadId })),
    ...(due.hasOutbox ? [{ kind: 'outbox', shard } satisfies Work] : []),
  ];
}

// Work that another process has done meanwhile never comes back here.
function forgetOldRests(resting: Map<string, Rest>): void {
  for (const [name, { until }] of resting) {
    if (until + LONGEST_REST_MS < Date.now()) resting.delete(name);
  }
}
