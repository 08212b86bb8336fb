import { type Job, Queue as JobQueue, Worker } from 'bullmq';
import { withTimeout } from '../../agent/util/abort.ts';
import { RateLimiter } from '../../agent/util/rate-limiter.ts';
import { reasonOf } from '../errors.ts';
import { DEFAULT_PREFIX, keyStart } from '../port/keys.ts';
import type { Queue, QueueLog, WorkHandlers, WorkKind } from '../port/queue.ts';
import type { Store } from '../port/store.ts';
import { nameOfWork, Work } from '../port/work.ts';
import { openConnection } from '../redis/connect.ts';
import type { RedisSettings } from '../redis/redis-settings.ts';
import { type Sweep, type SweepOptions, startSweep } from './sweep.ts';
import { TaskPool } from './task-pool.ts';

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

/** The jobs of BullMQ: work that any process takes. It has connections of its own. */
class Jobs {
  readonly #options: Required<Pick<QueueOptions, 'outboxRate'>> & Pick<QueueOptions, 'log'>;
  readonly #concurrency: Readonly<Record<WorkKind, number>>;
  readonly #place: { readonly connection: ReturnType<typeof openConnection>; readonly prefix: string };
  readonly #queues: Readonly<Record<WorkKind, JobQueue>>;
  readonly #adding = new Set<Promise<void>>();
  readonly #reportedAt = new Map<string, number>();
  #workers: readonly Worker[] = [];
  #isStopping = false;

  constructor(options: QueueOptions, concurrency: Readonly<Record<WorkKind, number>>) {
    const { settings, log, prefix = DEFAULT_PREFIX, outboxRate = OUTBOX_RATE } = options;
    this.#options = { log, outboxRate };
    this.#concurrency = concurrency;
    // BullMQ copies this connection for its blocking reads, which must not time out by themselves.
    const connection = openConnection(settings, {
      maxRetriesPerRequest: null,
      onProblem: (message) => log.warn({}, message),
    });
    this.#place = { connection, prefix: `${keyStart(prefix)}queue` };
    this.#queues = byKind((kind) =>
      new JobQueue(kind, {
        ...this.#place,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
        streams: { events: { maxLen: 100 } },
      }).on('error', this.#report),
    );
  }

  add(work: Work): void {
    // Queued work is not queued twice; work that is running is kept for one more run afterwards.
    const deduplication = { id: nameOfWork(work), keepLastIfActive: true };
    const added: Promise<void> = this.#queues[work.kind]
      .add(work.kind, work, { deduplication })
      .then(() => {}, this.#report)
      .finally(() => this.#adding.delete(added));
    this.#adding.add(added);
  }

  async takeWith(perform: (work: Work) => Promise<boolean>): Promise<void> {
    this.#workers = KINDS.map((kind) => this.#worker(kind, perform));
    const ready = Promise.all(this.#workers.map((each) => each.waitUntilReady()));
    if (!(await isDoneWithin(ready, READY_TIMEOUT_MS)))
      this.#options.log.warn({}, 'BullMQ is not ready; the sweep works alone.');
  }

  #worker(kind: WorkKind, perform: (work: Work) => Promise<boolean>): Worker {
    const { log, outboxRate } = this.#options;
    const process = async ({ data }: Job): Promise<void> => {
      const parsed = Work.safeParse(data);
      if (parsed.success) await perform(parsed.data);
      else log.warn({ queue: kind }, 'A job that names no work was dropped.');
    };
    return new Worker(kind, process, {
      ...this.#place,
      concurrency: this.#concurrency[kind],
      ...(kind === 'outbox' && { limiter: { max: outboxRate.max, duration: outboxRate.perMs } }),
      drainDelay: DRAIN_DELAY_S,
      stalledInterval: STALLED_CHECK_MS,
      // Without this, a worker sleeps for another 15 seconds after an outage.
      runRetryDelay: 1000,
      // A worker at its rate limit sleeps this long, even when it is asked to stop.
      maximumRateLimitDelay: 1000,
    }).on('error', this.#report);
  }

  // During an outage every wake-up fails; one line per interval is enough.
  readonly #report = (error: unknown): void => {
    const reason = describeProblem(error);
    if (this.#isStopping || Date.now() - (this.#reportedAt.get(reason) ?? 0) < REPORT_INTERVAL_MS) return;
    this.#reportedAt.set(reason, Date.now());
    this.#options.log.warn({ reason }, 'BullMQ reports a problem; the sweep goes on.');
  };

  /** Takes no more jobs; resolves when those that run have ended. */
  async stopTaking(): Promise<void> {
    this.#isStopping = true;
    await Promise.allSettled(this.#workers.map((each) => each.close()));
  }

  /** Waits for what was just added, unless that takes long. */
  async added(): Promise<void> {
    await withTimeout(Promise.allSettled(this.#adding), CLOSE_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    const closed = Promise.allSettled(Object.values(this.#queues).map((each) => each.close()));
    await withTimeout(closed, CLOSE_TIMEOUT_MS);
    this.#place.connection.disconnect();
  }
}

/** The queue of one process: woken work runs here below the limits of concurrency, and timers wait here. */
class ProcessQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #jobs: Jobs;
  readonly #pools: Readonly<Record<WorkKind, TaskPool>>;
  readonly #outboxLimit: RateLimiter;
  readonly #running = new Map<Promise<boolean>, Work>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #handlers: WorkHandlers | undefined;
  #sweep: Sweep | undefined;
  #stopped: Promise<void> | undefined;
  #isClosed = false;
  #senders = 0;

  constructor(options: QueueOptions) {
    const concurrency = { ...CONCURRENCY, ...options.concurrency };
    this.#options = options;
    this.#jobs = new Jobs(options, concurrency);
    this.#pools = byKind((kind) => new TaskPool(concurrency[kind], MAX_QUEUED));
    this.#outboxLimit = new RateLimiter(options.outboxRate ?? OUTBOX_RATE);
  }

  wake(work: Work, delayMs = 0): void {
    if (delayMs > 0) this.#wakeLater(work, delayMs);
    else if (!this.#isClosed && !this.#runHere(work)) this.#jobs.add(work);
  }

  #wakeLater(work: Work, delayMs: number): void {
    const { longestDelayMs = LONGEST_DELAY_MS } = this.#options;
    if (this.#stopped !== undefined || delayMs > longestDelayMs) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake(work);
    }, delayMs);
    // A timer must not keep the process alive.
    timer.unref();
    this.#timers.add(timer);
  }

  /** Runs work in this process; returns `false` if it does not run handlers now or is at a limit. */
  #runHere(work: Work): boolean {
    const handlers = this.#handlers;
    if (handlers === undefined || this.#stopped !== undefined) return false;
    if (work.kind === 'outbox' && !this.#outboxLimit.admits()) return false;
    // Senders work beside each other, so that a slow one does not delay what comes after it.
    const name = work.kind === 'outbox' ? `outbox ${++this.#senders}` : nameOfWork(work);
    return this.#pools[work.kind].tryRun(name, async () => void (await this.#attempt(handlers, work)));
  }

  #attempt(handlers: WorkHandlers, work: Work): Promise<boolean> {
    const performed = (async (): Promise<boolean> => {
      try {
        if (work.kind === 'thread') await handlers.thread(work.threadId);
        else if (work.kind === 'run') await handlers.run(work.requestId);
        else if (work.kind === 'outbox') await handlers.outbox();
        else await handlers.timer(work.timer, work.id);
        return true;
      } catch (error) {
        const message = 'Work failed; the sweep takes it up again while it is due.';
        this.#options.log.warn({ err: error, work }, message);
        return false;
      }
    })();
    const attempted: Promise<boolean> = performed.finally(() => this.#running.delete(attempted));
    this.#running.set(attempted, work);
    return attempted;
  }

  async start(handlers: WorkHandlers): Promise<void> {
    if (this.#handlers !== undefined || this.#stopped !== undefined)
      throw new Error('A queue can be started once only.');
    this.#handlers = handlers;
    const { store, log, sweep } = this.#options;
    const attempt = (work: Work) => this.#attempt(handlers, work);
    this.#sweep = startSweep({ ...SWEEP, ...sweep, store, attempt, pools: this.#pools, log });
    await this.#jobs.takeWith(attempt);
  }

  running(): readonly Work[] {
    return [...this.#running.values()];
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stopInOrder();
    return this.#stopped;
  }

  async #stopInOrder(): Promise<void> {
    const { log, stopWithinMs = STOP_TIMEOUT_MS } = this.#options;
    for (const timer of this.#timers) clearTimeout(timer);
    const closed = Promise.allSettled([
      this.#sweep?.stop(),
      ...Object.values(this.#pools).map((pool) => pool.close()),
      this.#jobs.stopTaking(),
    ]);
    // A worker without a connection never reports that it has closed, so only running handlers are waited for.
    const isClosed = await isDoneWithin(closed, Math.min(CLOSE_TIMEOUT_MS, stopWithinMs));
    if (!isClosed && this.#running.size > 0) {
      const ended = Promise.race([closed, Promise.all(this.#running.keys())]);
      if (!(await isDoneWithin(ended, stopWithinMs)))
        log.warn({}, `Handlers still ran ${stopWithinMs} ms after the stop and were left behind.`);
    }
    // The last handlers may have woken work for other processes.
    await this.#jobs.added();
    this.#isClosed = true;
    await this.#jobs.close();
  }
}

/**
 * Opens the queue. Woken work runs in this process if it is below its concurrency limit; otherwise a job of BullMQ hands it to any
 * process. A delayed wake-up is a timer of this process. What a process loses by dying, the sweep of another one finds.
 */
export function openQueue(options: QueueOptions): Queue {
  return new ProcessQueue(options);
}

function byKind<T>(make: (kind: WorkKind) => T): Record<WorkKind, T> {
  return { thread: make('thread'), run: make('run'), outbox: make('outbox'), timer: make('timer') };
}

// A job that was deleted while it ran is no loss. Other messages may hold secrets, so only their reason is logged.
function describeProblem(error: unknown): string {
  const isJobGone = error instanceof Error && /Missing (?:key|lock)|renew lock/.test(error.message);
  return isJobGone ? 'a job is gone' : reasonOf(error);
}

/** Tells whether work has succeeded within a time limit. */
async function isDoneWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const done = work.then(
    () => true,
    () => false,
  );
  return (await withTimeout(done, timeoutMs)) ?? false;
}
