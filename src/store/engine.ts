import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Queue, Worker } from 'bullmq';
import { openConnection } from './connect.ts';
import type { Engine, EngineLog, WorkHandlers, WorkKind } from './engine-port.ts';
import type { Store } from './port.ts';
import type { RedisSettings } from './redis-settings.ts';
import { reasonOf } from './redis-unreachable-error.ts';
import { type Sweep, type SweepOptions, startSweep } from './sweep.ts';
import { nameOfWork, performWork, Work } from './work.ts';

export interface EngineOptions {
  readonly settings: RedisSettings;
  /** The record that is swept for what is due. */
  readonly store: Pick<Store, 'due'>;
  readonly log: EngineLog;
  readonly prefix?: string;
  /** How much of each kind one process does at a time; the sweep may do as much again. */
  readonly concurrency?: Partial<Record<WorkKind, number>>;
  /** How often the outbox is woken at the most, by all processes together. */
  readonly outboxRate?: { readonly max: number; readonly perMs: number };
  readonly sweep?: Partial<Pick<SweepOptions, 'everyMs' | 'overdueMs' | 'limit'>>;
  /** A wake-up that is further away is left to the sweep, so that a request that waits for days costs no job. */
  readonly longestDelayMs?: number;
  /** How long `stop` waits for running handlers. */
  readonly stopWithinMs?: number;
}

const KINDS = ['thread', 'run', 'outbox', 'timer'] as const satisfies WorkKind[];
const CONCURRENCY: Record<WorkKind, number> = { thread: 16, run: 16, outbox: 8, timer: 8 };
const OUTBOX_RATE = { max: 50, perMs: 1000 };
const SWEEP = { everyMs: 5_000, overdueMs: 2_000, limit: 100 };
const LONGEST_DELAY_MS = 900_000;
const STOP_WITHIN_MS = 20_000;
const READY_WITHIN_MS = 10_000;
const CLOSE_WITHIN_MS = 2_000;
const TOLD_AGAIN_AFTER_MS = 10_000;

/** Opens the engine on connections of its own; waking works at once, handlers run between `start` and `stop`. */
export function openEngine(options: EngineOptions): Engine {
  const { settings, store, log, prefix = 'countersign:', longestDelayMs = LONGEST_DELAY_MS } = options;
  const { outboxRate = OUTBOX_RATE, stopWithinMs = STOP_WITHIN_MS } = options;
  const concurrency = { ...CONCURRENCY, ...options.concurrency };
  let workers: Worker[] = [];
  let sweep: Sweep | undefined;
  let stopped: Promise<void> | undefined;
  let isClosed = false;
  const running = new Set<Promise<boolean>>();
  const waking = new Set<Promise<void>>();
  const toldAt = new Map<string, number>();

  // During an outage every single wake-up fails; one line in a while says it.
  const report = (error: unknown): void => {
    const reason = problemOf(error);
    if (stopped !== undefined || Date.now() - (toldAt.get(reason) ?? 0) < TOLD_AGAIN_AFTER_MS) return;
    toldAt.set(reason, Date.now());
    log.warn({ reason }, 'BullMQ reports a problem; the sweep goes on.');
  };
  // Blocking reads of BullMQ go to copies of this connection, which must not give up by themselves.
  const connection = openConnection(settings, {
    maxRetriesPerRequest: null,
    onProblem: (message) => log.warn({}, message),
  });
  // Each queue has its own hash tag, so that a cluster can spread them.
  const place = (kind: WorkKind) => ({ connection, prefix: `${prefix}{engine-${kind}}` });
  const queues = {
    thread: queue('thread'),
    run: queue('run'),
    outbox: queue('outbox'),
    timer: queue('timer'),
  };

  function queue(kind: WorkKind): Queue {
    return new Queue(kind, {
      ...place(kind),
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: 100 } },
    }).on('error', report);
  }

  function worker(kind: WorkKind, attempt: (work: Work) => Promise<boolean>): Worker {
    const process = async ({ data }: Job): Promise<void> => {
      const parsed = Work.safeParse(data);
      if (parsed.success) await attempt(parsed.data);
      else log.warn({ queue: kind }, 'A job that names no work was dropped.');
    };
    return new Worker(kind, process, {
      ...place(kind),
      concurrency: concurrency[kind],
      ...(kind === 'outbox' && { limiter: { max: outboxRate.max, duration: outboxRate.perMs } }),
      // After an outage a worker would otherwise sleep for a quarter of a minute more.
      runRetryDelay: 1000,
      // A worker at its limit sleeps that long even when it is told to stop.
      maximumRateLimitDelay: 1000,
    }).on('error', report);
  }

  function attemptWith(handlers: WorkHandlers): (work: Work) => Promise<boolean> {
    const attempt = async (work: Work): Promise<boolean> => {
      try {
        await performWork(handlers, work);
        return true;
      } catch (error) {
        log.warn({ err: error, work }, 'Work failed; the sweep takes it up again while it is due.');
        return false;
      }
    };
    return (work) => {
      const attempted: Promise<boolean> = attempt(work).finally(() => running.delete(attempted));
      running.add(attempted);
      return attempted;
    };
  }

  async function stopInOrder(): Promise<void> {
    const closed = Promise.allSettled([sweep?.stop(), ...workers.map((each) => each.close())]);
    // A worker whose connection is down never says that it has closed; only its handlers are worth more waiting.
    if (!(await within(Math.min(CLOSE_WITHIN_MS, stopWithinMs), closed)) && running.size > 0) {
      const ended = Promise.race([closed, Promise.all(running)]);
      if (!(await within(stopWithinMs, ended)))
        log.warn({}, `Handlers still ran ${stopWithinMs} ms after the stop and were left behind.`);
    }
    // The last handlers may have woken work for other processes.
    await within(CLOSE_WITHIN_MS, Promise.allSettled(waking));
    isClosed = true;
    await within(CLOSE_WITHIN_MS, Promise.allSettled(Object.values(queues).map((each) => each.close())));
    connection.disconnect();
  }

  return {
    wake(work, delayMs = 0) {
      if (isClosed || delayMs > longestDelayMs) return;
      // Work that is already queued is not queued again; while it is being done, one more round is kept for afterwards.
      const when =
        delayMs > 0
          ? { delay: Math.ceil(delayMs) }
          : { deduplication: { id: nameOfWork(work), keepLastIfActive: true } };
      const added: Promise<void> = queues[work.kind]
        .add(work.kind, work, when)
        .then(() => {}, report)
        .finally(() => waking.delete(added));
      waking.add(added);
    },

    async start(handlers) {
      if (sweep !== undefined || stopped !== undefined)
        throw new Error('An engine can be started once only.');
      const attempt = attemptWith(handlers);
      sweep = startSweep({ ...SWEEP, ...options.sweep, store, attempt, concurrency, log });
      workers = KINDS.map((kind) => worker(kind, attempt));
      const ready = Promise.all(workers.map((each) => each.waitUntilReady()));
      if (!(await within(READY_WITHIN_MS, ready)))
        log.warn({}, 'BullMQ is not ready; the sweep works alone.');
    },

    stop() {
      stopped ??= stopInOrder();
      return stopped;
    },
  };
}

// A job that was deleted while it was being done is no loss; BullMQ's own words for it are known, others may hold secrets.
function problemOf(error: unknown): string {
  const isJobGone = error instanceof Error && /Missing (?:key|lock)|renew lock/.test(error.message);
  return isJobGone ? 'a job is gone' : reasonOf(error);
}

/** Waits for something, but not for ever, and tells whether it came. */
async function within(patienceMs: number, awaited: Promise<unknown>): Promise<boolean> {
  const giveUp = new AbortController();
  const late = sleep(patienceMs, false, { signal: giveUp.signal }).catch(() => false);
  const came = await Promise.race([
    awaited.then(
      () => true,
      () => false,
    ),
    late,
  ]);
  giveUp.abort();
  return came;
}
