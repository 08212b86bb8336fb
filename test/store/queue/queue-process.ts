import { z } from 'zod';
import type { Queue } from '../../../src/store/port/queue.ts';
import { openQueue } from '../../../src/store/queue/queue.ts';
import { connectRedis } from '../../../src/store/redis/connect.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';

// A process of a deployment, as far as the queue is concerned: it answers threads and notes which it answered.
const Order = z.object({
  url: z.string(),
  prefix: z.string(),
  name: z.string(),
  sweepEveryMs: z.number(),
  leaseMs: z.number(),
  /** Takes threads and never gives them back. */
  hangs: z.boolean(),
});
const order = Order.parse(JSON.parse(process.argv[2] ?? ''));
const settings = { mode: 'single', urls: [order.url] } as const;
const client = await connectRedis(settings);
const store = openRedisStore({
  client,
  prefix: order.prefix,
  onReport({ due }) {
    for (const { work, delayMs } of due) queue.wake(work, delayMs);
  },
});
const queue: Queue = openQueue({
  settings,
  store,
  prefix: order.prefix,
  concurrency: { thread: 1 },
  sweep: { everyMs: order.sweepEveryMs, overdueMs: 100 },
  log: { warn: () => {} },
});
await queue.start({
  async thread(threadId) {
    const taken = await store.claimTurn(threadId, order.leaseMs);
    if (taken.outcome !== 'claimed') return;
    if (order.hangs) {
      process.stdout.write(`holds ${threadId}\n`);
      await new Promise(() => {});
    }
    const ended = await store.suspend(taken.turn, { messages: [], read: taken.turn.inbox.length });
    if (ended.outcome === 'suspended')
      await client.rpush(`${order.prefix}answered`, `${order.name} ${threadId}`);
  },
  async run() {},
  async outbox() {},
  async timer() {},
});
process.stdout.write('ready\n');
