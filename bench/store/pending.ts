import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { requestIdOf, threadOf } from '../../src/store/port/keys.ts';
import type { Store } from '../../src/store/port/store.ts';
import type { TurnEnd } from '../../src/store/port/values.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { median } from '../support/quantiles.ts';
import type { Table } from '../support/table.ts';
import { newThreadIds } from '../support/thread-ids.ts';

const FEW = 100;
const AT_ONCE = 200;
const PAGE = 20;
const HOUR_MS = 3_600_000;
const APPROVER = 'U-ann';
const OVERDUE_MS = 2_000;
const LATEST = 1_000;
const OPERATIONS = [
  'put',
  'suspend',
  'vote',
  'start',
  'finish',
  'one page of "waiting for me"',
  'one sweep',
] as const;
type Operation = (typeof OPERATIONS)[number];
type Times = Record<Operation, number[]>;

export interface PendingPace {
  readonly rounds: number;
  /** The middle number of pending requests. */
  readonly some?: number;
  /** The largest number; 100,000 is the goal. */
  readonly many: number;
}

interface Side {
  readonly store: Store;
  readonly times: Times;
  readonly bytes: number;
  stop(): Promise<void>;
}

interface OpenRecord {
  readonly store: Store;
  readonly client: Redis;
  stop(): Promise<void>;
}

/** Measures the steps of a request, a page of a list and the sweep with few, some and many requests pending. */
export async function measurePending({ rounds, some = 10_000, many }: PendingPace): Promise<Table> {
  const counts = [FEW, some, many];
  const sides: Side[] = [];
  try {
    for (const count of counts) sides.push(await openSide(count));
    const warmUps = Math.ceil(rounds / 5);
    for (let round = -warmUps; round < rounds; round += 1) {
      // In alternation (A B C, C B A, ...), so that noise hits all alike.
      for (const { store, times } of round % 2 === 0 ? sides : sides.toReversed())
        await measureOnce(store, round < 0 ? noTimes() : times);
    }
    const rows = OPERATIONS.map((operation) => {
      const medians = sides.map(({ times }) => median(times[operation]));
      const [few = Number.NaN, ...more] = medians;
      return [
        operation,
        ...medians.map((value) => `${value.toFixed(3)} ms`),
        ...more.map((value) => (value / few).toFixed(2)),
      ];
    });
    const bytes = sides.map((side) => `${side.bytes.toLocaleString('en')} bytes`);
    const named = counts.map((count) => count.toLocaleString('en'));
    return {
      title: `Requests pending on one Redis (median of ${rounds} rounds)`,
      columns: [
        '',
        ...named.map((count) => `${count} pending`),
        ...named.slice(1).map((count) => `${count} of ${FEW}`),
      ],
      rows: [...rows, ['memory for one pending request', ...bytes, '', '']],
    };
  } finally {
    for (const { stop } of sides) await stop();
  }
}

/** Starts a Redis with this many requests pending, and measures the memory of one. */
async function openSide(count: number): Promise<Side> {
  const { store, client, stop } = await openRecord();
  // The first request also loads the scripts.
  await fill(store, 1);
  const before = await usedMemory(client);
  await fill(store, count);
  return { store, times: noTimes(), bytes: Math.round(((await usedMemory(client)) - before) / count), stop };
}

async function openRecord(): Promise<OpenRecord> {
  const server = await startPrivateRedis();
  const client = new Redis(server.url);
  const store = openRedisStore({ client });
  return {
    store,
    client,
    async stop() {
      await store.close();
      await server.stop();
    },
  };
}

async function fill(store: Store, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    const asked = Array.from({ length: Math.min(AT_ONCE, count - done) }, () => ask(store));
    await Promise.all(asked);
    await markShown(store);
  }
}

/** Marks the cards as posted, so that nothing is due. */
async function markShown(store: Store): Promise<void> {
  for (const item of await store.claimOutbox({ leaseMs: HOUR_MS, limit: AT_ONCE }))
    if (item.kind === 'view')
      await store.done(item, { revision: LATEST, postedAt: { ts: '1712345678.000001' } });
}

/** Opens one approval request in a new thread, as a turn does. */
async function ask(store: Store, times: Times = noTimes()): Promise<string> {
  const [threadId = ''] = newThreadIds(1);
  const id = requestIdOf(threadId, randomUUID());
  const item = { id: 'first', body: { text: 'Please refund order A-1.' } };
  times.put.push(await timed('enqueued', () => store.enqueue(threadId, item)));
  const taken = await store.claimTurn(threadId, HOUR_MS);
  if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}`);
  const end: TurnEnd = {
    messages: [{ v: 1, role: 'user', content: [{ text: 'Please refund order A-1.' }] }],
    read: 1,
    requests: [
      {
        id,
        kind: 'approval',
        requester: 'U-rita',
        digest: 'd'.repeat(64),
        details: { tool: 'refund_order', input: { order: 'A-1', amount: 1200, reason: 'damaged' } },
        policy: {
          principals: [APPROVER, 'S-finance'],
          resolvers: ['U-ops'],
          quorum: 1,
          vetoes: 1,
          selfApproval: false,
          expiresInMs: 24 * HOUR_MS,
          remindEveryMs: HOUR_MS,
          escalate: { afterMs: 2 * HOUR_MS, to: ['S-oncall'] },
        },
        execution: { idempotent: false, maxAttempts: 1, retryForMs: 0 },
        views: [{ id: 'thread', place: { channel: 'C0123456789', thread: '171.2' } }],
      },
    ],
  };
  times.suspend.push(await timed('suspended', () => store.suspend(taken.turn, end)));
  return id;
}

async function measureOnce(store: Store, times: Times): Promise<void> {
  const id = await ask(store, times);
  const evidence = { click: id };
  times.vote.push(
    await timed('voted', () =>
      store.vote(id, { who: APPROVER, eligible: true, evidence, decision: 'approve', shown: 'd'.repeat(64) }),
    ),
  );
  const attempt = {
    attempt: 'first',
    tool: 'refund_order',
    digest: 'd'.repeat(64),
    heartbeatTimeoutMs: HOUR_MS,
    stillEligible: [APPROVER],
  };
  times.start.push(await timed('started', () => store.start(id, { ...attempt, evidence })));
  times.finish.push(
    await timed('finished', () =>
      store.finish(id, {
        attempt: 'first',
        state: 'succeeded',
        message: { v: 1, role: 'user', content: [{ text: 'refunded' }] },
        summary: 'refunded',
      }),
    ),
  );
  times['one page of "waiting for me"'].push(
    await timed(PAGE, async () => ({
      outcome: (await store.list('waiting', [APPROVER, 'S-finance'], { limit: PAGE })).requestIds.length,
    })),
  );
  await endTurn(store, id);
  times['one sweep'].push(await timed(0, () => sweep(store)));
}

/** Ends the turn that the action was for, and marks its card as updated. */
async function endTurn(store: Store, id: string): Promise<void> {
  const taken = await store.claimTurn(threadOf(id) ?? '', HOUR_MS);
  if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}`);
  await store.suspend(taken.turn, {
    messages: [{ v: 1, role: 'model', content: [{ text: 'It is done.' }] }],
    read: 0,
  });
  await markShown(store);
}

/** Looks for due work, as the sweep does. There is none: every request waits for people. */
async function sweep(store: Store): Promise<{ outcome: number }> {
  const found = await store.due({ overdueMs: OVERDUE_MS, limit: PAGE });
  return { outcome: found.timers.length };
}

/** Times work that must have this outcome. */
async function timed(expected: string | number, work: () => Promise<{ outcome: unknown }>): Promise<number> {
  const start = performance.now();
  const { outcome } = await work();
  const spent = performance.now() - start;
  if (outcome !== expected) throw new Error(`The outcome is ${String(outcome)}, not ${expected}.`);
  return spent;
}

async function usedMemory(client: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
}

function noTimes(): Times {
  return {
    put: [],
    suspend: [],
    vote: [],
    start: [],
    finish: [],
    'one page of "waiting for me"': [],
    'one sweep': [],
  };
}
