import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Queue as JobQueue, Worker } from 'bullmq';
import { reasonOf } from '../errors.ts';
import type { Queue, QueueLog, WorkHandlers, WorkKind } from '../port/queue.ts';
import type { Store } from '../port/store.ts';
import { nameOfWork, Work } from '../port/work.ts';
import { DEFAULT_PREFIX, keyStart } from '../record/keys.ts';
import { openConnection } from '../redis/connect.ts';
import type { RedisSettings } from '../redis/redis-settings.ts';
import { type Sweep, type SweepOptions, startSweep } from './sweep.ts';
import { RateLimit, TaskPool } from './task-pool.ts';

export interface QueueOptions {
  readonly settings: RedisSettings;
  /** The record that is swept for due work. */
  readonly store: Pick<Store, 'due'>;
  readonly log: QueueLog;
  readonly prefix?: string;
  /** The concurrency of each kind, for work that this process has woken or found, and as much again for BullMQ's jobs. */
  readonly concurrency?: Partial<Record<WorkKind, number>>;
  /** The highest rate of outbox wake-ups: of this process for its own, and over all processes for BullMQ's jobs. */
  readonly outboxRate?: { readonly max: number; readonly perMs: number };
  readonly sweep?: Partial<Pick<SweepOptions, 'everyMs' | 'overdueMs' | 'limit'>>;
  /** A wake-up with a longer delay is left to the sweep, so that a request that waits for days costs no timer. */
  readonly longestDelayMs?: number;
  /** The time that `stop` waits for running handlers. */
  readonly stopWithinMs?: number;
}

const KINDS = ['thread', 'run', 'outbox', 'timer'] as const satisfies WorkKind[];
const CONCURRENCY: Record<WorkKind, number> = { thread: 16, run: 16, outbox: 8, timer: 8 };
const MAX_QUEUED = 1000;
const OUTBOX_RATE = { max: 50, perMs: 1000 };
const SWEEP = { everyMs: 5_000, overdueMs: 2_000, limit: 1_000 };
const LONGEST_DELAY_MS = 900_000;
/** The time for which an idle BullMQ worker waits for a job in one command. */
const DRAIN_DELAY_S = 30;
const STALLED_CHECK_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const READY_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;
const REPORT_INTERVAL_MS = 10_000;

/**
 * Opens the queue on its own connections. Woken work runs in this process if it is below its concurrency limit; otherwise a job of
 * BullMQ hands it to any process. A delayed wake-up is a timer of this process. What a process loses by dying, the sweep of another one
 * finds.
 */
export function openQueue(options: QueueOptions): Queue {
  const { settings, store, log, prefix = DEFAULT_PREFIX, longestDelayMs = LONGEST_DELAY_MS } = options;
  const { outboxRate = OUTBOX_RATE, stopWithinMs = STOP_TIMEOUT_MS } = options;
  const concurrency = { ...CONCURRENCY, ...options.concurrency };
  let attempt: ((work: Work) => Promise<boolean>) | undefined;
  let workers: Worker[] = [];
  let sweep: Sweep | undefined;
  let stopped: Promise<void> | undefined;
  let isClosed = false;
  let senders = 0;
  const running = new Map<Promise<boolean>, Work>();
  const waking = new Set<Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  const reportedAt = new Map<string, number>();
  const outboxLimit = new RateLimit(outboxRate);

  // During an outage every wake-up fails; one line per interval is enough.
  const report = (error: unknown): void => {
    const reason = describeProblem(error);
    if (stopped !== undefined || Date.now() - (reportedAt.get(reason) ?? 0) < REPORT_INTERVAL_MS) return;
    reportedAt.set(reason, Date.now());
    log.warn({ reason }, 'BullMQ reports a problem; the sweep goes on.');
  };
  // BullMQ copies this connection for its blocking reads, which must not time out by themselves.
  const connection = openConnection(settings, {
    maxRetriesPerRequest: null,
    onProblem: (message) => log.warn({}, message),
  });
  const pools: Record<WorkKind, TaskPool> = {
    thread: new TaskPool(concurrency.thread, MAX_QUEUED),
    run: new TaskPool(concurrency.run, MAX_QUEUED),
    outbox: new TaskPool(concurrency.outbox, MAX_QUEUED),
    timer: new TaskPool(concurrency.timer, MAX_QUEUED),
  };
  const place = { connection, prefix: `${keyStart(prefix)}queue` };
  const queues = {
    thread: jobsOf('thread'),
    run: jobsOf('run'),
    outbox: jobsOf('outbox'),
    timer: jobsOf('timer'),
  };

  function jobsOf(kind: WorkKind): JobQueue {
    return new JobQueue(kind, {
      ...place,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: 100 } },
    }).on('error', report);
  }

  function worker(kind: WorkKind, perform: (work: Work) => Promise<boolean>): Worker {
    const process = async ({ data }: Job): Promise<void> => {
      const parsed = Work.safeParse(data);
      if (parsed.success) await perform(parsed.data);
      else log.warn({ queue: kind }, 'A job that names no work was dropped.');
    };
    return new Worker(kind, process, {
      ...place,
      concurrency: concurrency[kind],
      ...(kind === 'outbox' && { limiter: { max: outboxRate.max, duration: outboxRate.perMs } }),
      drainDelay: DRAIN_DELAY_S,
      stalledInterval: STALLED_CHECK_MS,
      // Without this, a worker sleeps for another 15 seconds after an outage.
      runRetryDelay: 1000,
      // A worker at its rate limit sleeps this long, even when it is asked to stop.
      maximumRateLimitDelay: 1000,
    }).on('error', report);
  }

  function attemptWith(handlers: WorkHandlers): (work: Work) => Promise<boolean> {
    const perform = async (work: Work): Promise<boolean> => {
      try {
        await performWork(handlers, work);
        return true;
      } catch (error) {
        log.warn({ err: error, work }, 'Work failed; the sweep takes it up again while it is due.');
        return false;
      }
    };
    return (work) => {
      const attempted: Promise<boolean> = perform(work).finally(() => running.delete(attempted));
      running.set(attempted, work);
      return attempted;
    };
  }

  /** Runs work in this process; returns `false` if it does not run handlers now or is at a limit. */
  function runHere(work: Work): boolean {
    const perform = attempt;
    if (perform === undefined || stopped !== undefined) return false;
    if (work.kind === 'outbox' && !outboxLimit.admits()) return false;
    // Senders work beside each other, so that a slow one does not delay what comes after it.
    const name = work.kind === 'outbox' ? `outbox ${++senders}` : nameOfWork(work);
    return pools[work.kind].tryRun(name, async () => void (await perform(work)));
  }

  function addJob(work: Work): void {
    // Queued work is not queued twice; work that is running is kept for one more run afterwards.
    const deduplication = { id: nameOfWork(work), keepLastIfActive: true };
    const added: Promise<void> = queues[work.kind]
      .add(work.kind, work, { deduplication })
      .then(() => {}, report)
      .finally(() => waking.delete(added));
    waking.add(added);
  }

  function wake(work: Work): void {
    if (isClosed) return;
    if (!runHere(work)) addJob(work);
  }

  function wakeLater(work: Work, delayMs: number): void {
    if (stopped !== undefined || delayMs > longestDelayMs) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      wake(work);
    }, delayMs);
    // A timer must not keep the process alive.
    timer.unref();
    timers.add(timer);
  }

  async function stopInOrder(): Promise<void> {
    for (const timer of timers) clearTimeout(timer);
    const closed = Promise.allSettled([
      sweep?.stop(),
      ...Object.values(pools).map((pool) => pool.close()),
      ...workers.map((each) => each.close()),
    ]);
    // A worker without a connection never reports that it has closed, so only running handlers are waited for.
    if (!(await withTimeout(Math.min(CLOSE_TIMEOUT_MS, stopWithinMs), closed)) && running.size > 0) {
      const ended = Promise.race([closed, Promise.all(running.keys())]);
      if (!(await withTimeout(stopWithinMs, ended)))
        log.warn({}, `Handlers still ran ${stopWithinMs} ms after the stop and were left behind.`);
    }
    // The last handlers may have woken work for other processes.
    await withTimeout(CLOSE_TIMEOUT_MS, Promise.allSettled(waking));
    isClosed = true;
    await withTimeout(
      CLOSE_TIMEOUT_MS,
      Promise.allSettled(Object.values(queues).map((each) => each.close())),
    );
    connection.disconnect();
  }

  return {
    wake(work, delayMs = 0) {
      if (delayMs > 0) wakeLater(work, delayMs);
      else wake(work);
    },

    async start(handlers) {
      if (sweep !== undefined || stopped !== undefined) throw new Error('A queue can be started once only.');
      const perform = attemptWith(handlers);
      attempt = perform;
      sweep = startSweep({
        ...SWEEP,
        ...options.sweep,
        store,
        attempt: perform,
        pools,
        log,
      });
      workers = KINDS.map((kind) => worker(kind, perform));
      const ready = Promise.all(workers.map((each) => each.waitUntilReady()));
      if (!(await withTimeout(READY_TIMEOUT_MS, ready)))
        log.warn({}, 'BullMQ is not ready; the sweep works alone.');
    },

    running: () => [...running.values()],

    stop() {
      stopped ??= stopInOrder();
      return stopped;
    },
  };
}

function performWork(handlers: WorkHandlers, work: Work): Promise<void> {
  switch (work.kind) {
    case 'thread':
      return handlers.thread(work.threadId);
    case 'run':
      return handlers.run(work.requestId);
    case 'outbox':
      return handlers.outbox();
    case 'timer':
      return handlers.timer(work.timer, work.id);
  }
}

// A job that was deleted while it ran is no loss. Other messages may hold secrets, so only their reason is logged.
function describeProblem(error: unknown): string {
  const isJobGone = error instanceof Error && /Missing (?:key|lock)|renew lock/.test(error.message);
  return isJobGone ? 'a job is gone' : reasonOf(error);
}

/** Waits for a promise up to a time limit, and returns whether it resolved. */
async function withTimeout(timeoutMs: number, awaited: Promise<unknown>): Promise<boolean> {
  const giveUp = new AbortController();
  const late = sleep(timeoutMs, false, { signal: giveUp.signal }).catch(() => false);
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
