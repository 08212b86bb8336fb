import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineLog, WorkKind } from '../port/engine.ts';
import type { DueWork, Store } from '../port/store.ts';
import { SHARDS } from '../record/keys.ts';
import type { TaskPool } from './task-pool.ts';
import { nameOfWork, type Work } from './work.ts';

export interface SweepOptions {
  readonly store: Pick<Store, 'due'>;
  /** Lists the shards in which any process has worked lately. */
  readonly activeShards: () => Promise<readonly number[]>;
  /** Does the work and returns whether it succeeded; never throws. */
  readonly attempt: (work: Work) => Promise<boolean>;
  readonly pools: Readonly<Record<WorkKind, TaskPool>>;
  readonly everyMs: number;
  /** The least time that work has been due; work that is due only now has usually been woken. */
  readonly overdueMs: number;
  /** The most work of each kind in one shard and one sweep. */
  readonly limit: number;
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

const LONGEST_REST_MS = 300_000;
/** The number of sweeps in which every quiet shard is visited once. */
const ROUND = 16;

/**
 * Finds work that is due and was not woken, as long as the process lives. Needs nothing but the record. Shards with recent activity, or
 * with work that is due soon, are swept each time; a few quiet shards are visited in turn, so that an idle bot costs little.
 */
export function startSweep(options: SweepOptions): Sweep {
  const { store, activeShards, attempt, pools, everyMs, overdueMs, limit, log } = options;
  const resting = new Map<string, Rest>();
  /** The shards to sweep each time, until a moment. */
  const watched = new Map<number, number>();
  // A round takes up to one and a half times its share, because of the jitter.
  const roundMs = ROUND * everyMs * 1.5;
  const stopping = new AbortController();
  let sweeps = 0;

  async function sweepShard(shard: number): Promise<void> {
    // Work that keeps failing stays at the head of the list; without extra room it would hide the work behind it.
    const failing = [...resting.values()].filter((rest) => rest.shard === shard).length;
    const due = await store.due(shard, { overdueMs, limit: limit + failing });
    if (stopping.signal.aborted) return;
    for (const work of workIn(shard, due)) offer(shard, work);
  }

  /** Looks ahead: a shard whose next work is due before its next visit is watched until then. */
  async function visitShard(shard: number): Promise<void> {
    const soon = await store.due(shard, { overdueMs: -roundMs, limit: 1 });
    if (workIn(shard, soon).length === 0) return;
    watched.set(shard, Date.now() + roundMs);
    await sweepShard(shard);
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

  /** The shards that are swept each time. */
  async function busyShards(): Promise<Set<number>> {
    const now = Date.now();
    for (const [shard, until] of watched) if (until < now) watched.delete(shard);
    const active = await activeShards().catch(() => []);
    return new Set([...active, ...watched.keys(), ...[...resting.values()].map(({ shard }) => shard)]);
  }

  async function sweepOnce(): Promise<void> {
    const all = [...Array(SHARDS).keys()];
    const isFirst = sweeps === 0;
    const busy = isFirst ? new Set(all) : await busyShards();
    const quiet = all.filter((shard) => shard % ROUND === sweeps % ROUND && !busy.has(shard));
    sweeps += 1;
    const swept = [...busy, ...quiet];
    const results = await Promise.allSettled([...[...busy].map(sweepShard), ...quiet.map(visitShard)]);
    const failed = swept.filter((_, index) => results[index]?.status === 'rejected');
    for (const shard of failed) watched.set(shard, Date.now() + roundMs);
    const first = results.find((result) => result.status === 'rejected');
    if (first !== undefined && !stopping.signal.aborted)
      log.warn(
        { err: first.reason },
        `The sweep could not look into ${failed.length} of ${swept.length} shards.`,
      );
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
      await sweeping;
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
