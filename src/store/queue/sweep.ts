import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueLog, WorkKind } from '../port/queue.ts';
import type { Store } from '../port/store.ts';
import type { DueWork } from '../port/values.ts';
import { nameOfWork, type Work } from '../port/work.ts';
import type { TaskPool } from './task-pool.ts';

export interface SweepOptions {
  readonly store: Pick<Store, 'due'>;
  /** Does the work and returns whether it succeeded; never throws. */
  readonly attempt: (work: Work) => Promise<boolean>;
  readonly pools: Readonly<Record<WorkKind, TaskPool>>;
  readonly everyMs: number;
  /** The least time that work has been due; work that is due only now has usually been woken. */
  readonly overdueMs: number;
  /** The most work of each kind in one sweep. */
  readonly limit: number;
  readonly log: QueueLog;
}

export interface Sweep {
  stop(): Promise<void>;
}

interface Rest {
  readonly failures: number;
  readonly until: number;
}

const LONGEST_REST_MS = 300_000;

/** Finds work that is due and was not woken, as long as the process lives. Needs nothing but the record. */
export function startSweep(options: SweepOptions): Sweep {
  const { store, attempt, pools, everyMs, overdueMs, limit, log } = options;
  const resting = new Map<string, Rest>();
  const stopping = new AbortController();

  function offer(work: Work): void {
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
      resting.set(name, { failures, until: Date.now() + restMs });
    });
  }

  async function sweepOnce(): Promise<void> {
    try {
      // Work that keeps failing stays at the head of the list; without extra room it would hide the work behind it.
      const due = await store.due({ overdueMs, limit: limit + resting.size });
      if (stopping.signal.aborted) return;
      for (const work of workIn(due)) offer(work);
    } catch (err) {
      if (!stopping.signal.aborted) log.warn({ err }, 'The sweep could not look for due work.');
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
      await sweeping;
    },
  };
}

function workIn(due: DueWork): Work[] {
  return [
    ...due.timers.map(({ kind, id }): Work => ({ kind: 'timer', timer: kind, id })),
    ...due.runs.map((requestId): Work => ({ kind: 'run', requestId })),
    ...due.threads.map((threadId): Work => ({ kind: 'thread', threadId })),
    ...(due.hasOutbox ? [{ kind: 'outbox' } satisfies Work] : []),
  ];
}

// Work that another process has done meanwhile never comes back here.
function forgetOldRests(resting: Map<string, Rest>): void {
  for (const [name, { until }] of resting) {
    if (until + LONGEST_REST_MS < Date.now()) resting.delete(name);
  }
}
