import { afterAll, beforeEach, onTestFinished } from 'vitest';
import type { Queue, WorkHandlers } from '../../../src/store/port/queue.ts';
import type { Report } from '../../../src/store/port/report.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openQueue, type QueueOptions } from '../../../src/store/queue/queue.ts';
import type { RedisSettings } from '../../../src/store/redis/redis-settings.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';

/** A sweep that never comes, so that only jobs can have done the work. */
export const NEVER = { everyMs: 3_600_000, overdueMs: 0 };
export const OFTEN = { everyMs: 50, overdueMs: 0 };

export interface Warning {
  readonly details: object;
  readonly message: string;
}

/** The fixture of a queue test; each test has its own record. */
export interface Bench {
  readonly redis: TestRedis;
  readonly settings: RedisSettings;
  readonly store: Store;
}

/** Gives every test of a file a new bench. */
export function prepareBenches(): () => Bench {
  const open: Bench[] = [];
  beforeEach(() => {
    const redis = connectTestRedis();
    const store = openRedisStore({ client: redis.client, prefix: redis.prefix });
    open.push({ redis, store, settings: { mode: 'single', urls: [redis.url] } });
  });
  // Queues are stopped at the end of their tests, so that nothing is written after the keys are gone.
  afterAll(() => Promise.all(open.map(({ redis }) => redis.close())));
  return () => {
    const bench = open.at(-1);
    if (bench === undefined) throw new Error('There is a bench only within a test');
    return bench;
  };
}

/** Opens a queue for one test, without a sweep unless it asks for one, and collects what it warns of. */
export function openTestQueue(
  { redis, settings, store }: Bench,
  options: Partial<QueueOptions> = {},
): { queue: Queue; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const log = { warn: (details: object, message: string) => warnings.push({ details, message }) };
  const queue = openQueue({ settings, store, prefix: redis.prefix, sweep: NEVER, log, ...options });
  onTestFinished(() => queue.stop());
  return { queue, warnings };
}

/** Opens the record of a bench so that what becomes due wakes this queue. */
export function wakingStore({ redis }: Bench, queue: Queue): Store {
  const onReport = ({ due }: Report) => {
    for (const { work, delayMs } of due) queue.wake(work, delayMs);
  };
  return openRedisStore({ client: redis.client, prefix: redis.prefix, onReport });
}

/** Handlers that do nothing but what the test is about. */
export function handlers(given: Partial<WorkHandlers>): WorkHandlers {
  const nothing = async (): Promise<void> => {};
  return { thread: nothing, run: nothing, outbox: nothing, timer: nothing, ...given };
}

/** Answers a thread as a worker does, and notes it. */
export function answering(store: Store, answered: string[]): Partial<WorkHandlers> {
  return {
    async thread(threadId) {
      const taken = await store.claimTurn(threadId, 60_000);
      if (taken.outcome !== 'claimed') return;
      await store.suspend(taken.turn, { messages: [], read: taken.turn.inbox.length });
      answered.push(threadId);
    },
  };
}

export function say(to: Pick<Store, 'enqueue'>, threadId: string): Promise<unknown> {
  return to.enqueue(threadId, { id: 'm1', body: { text: 'hello' } });
}

/** A promise that the test keeps when it wants to. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}
