import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineLog, WorkKind } from './engine-port.ts';
import { SHARDS } from './keys.ts';
import { Lane } from './lane.ts';
import type { DueWork, Store } from './port.ts';
import { nameOfWork, type Work } from './work.ts';

export interface SweepOptions {
  readonly store: Pick<Store, 'due'>;
  /** Does the work and tells whether it went well; it never throws. */
  readonly attempt: (work: Work) => Promise<boolean>;
  readonly everyMs: number;
  /** How long something must have been due: what is due only now has been woken, as a rule. */
  readonly overdueMs: number;
  /** How much of each kind is looked at in one shard and one sweep. */
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

const LONGEST_LANE = 1000;
const LONGEST_REST_MS = 300_000;

/** Looks for what is due and was not woken, for as long as the process lives; it needs nothing but the record itself. */
export function startSweep(options: SweepOptions): Sweep {
  const { store, attempt, everyMs, overdueMs, limit, concurrency, log } = options;
  const lanes: Record<WorkKind, Lane> = {
    thread: new Lane(concurrency.thread, LONGEST_LANE),
    run: new Lane(concurrency.run, LONGEST_LANE),
    outbox: new Lane(concurrency.outbox, LONGEST_LANE),
    timer: new Lane(concurrency.timer, LONGEST_LANE),
  };
  const resting = new Map<string, Rest>();
  const stopping = new AbortController();

  async function sweepShard(shard: number): Promise<void> {
    // What fails again and again stays at the head of the list; without its own room it would hide what comes after it.
    const failing = [...resting.values()].filter((rest) => rest.shard === shard).length;
    const due = await store.due(shard, { overdueMs, limit: limit + failing });
    if (stopping.signal.aborted) return;
    for (const work of workIn(shard, due)) offer(shard, work);
  }

  function offer(shard: number, work: Work): void {
    const name = nameOfWork(work);
    const rest = resting.get(name);
    if (rest !== undefined && rest.until > Date.now()) return;
    lanes[work.kind].offer(name, async () => {
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
      // Processes that were started together would otherwise all look at the same moment.
      const pauseMs = everyMs * (0.5 + Math.random());
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await sweepOnce();
    }
  }

  const sweeping = sweepUntilStopped();
  return {
    async stop() {
      stopping.abort();
      const ended = Object.values(lanes).map((lane) => lane.close());
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

// What was done elsewhere in the meantime never comes back here to be forgotten.
function forgetOldRests(resting: Map<string, Rest>): void {
  for (const [name, { until }] of resting) {
    if (until + LONGEST_REST_MS < Date.now()) resting.delete(name);
  }
}
