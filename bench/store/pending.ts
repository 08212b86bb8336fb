import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { requestIdOf } from '../../src/store/keys.ts';
import type { Store } from '../../src/store/port.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import type { Table } from '../table.ts';

const FEW = 100;
const AT_ONCE = 200;
const PAGE = 20;
const HOUR_MS = 3_600_000;
const APPROVER = 'U-ann';
const OPERATIONS = ['vote', 'start', 'one page of "waiting for me"'] as const;
/** Slack's names for threads are of this length. */
let opened = 0;
type Operation = (typeof OPERATIONS)[number];
type Times = Record<Operation, number[]>;

export interface PendingPace {
  readonly rounds: number;
  /** How many requests are many; 100,000 is the promise. */
  readonly many: number;
}

interface OpenRecord {
  readonly store: Store;
  readonly client: Redis;
  stop(): Promise<void>;
}

/** What a decision, a start and a page cost with few and with many requests pending, side by side in one run. */
export async function measurePending({ rounds, many }: PendingPace): Promise<Table> {
  const [small, large] = [await openRecord(), await openRecord()];
  try {
    await fill(small.store, FEW);
    const before = await usedMemory(large.client);
    await fill(large.store, many);
    const bytes = Math.round(((await usedMemory(large.client)) - before) / many);
    const warmUps = Math.ceil(rounds / 5);
    const [fewTimes, manyTimes] = [noTimes(), noTimes()];
    for (let round = -warmUps; round < rounds; round += 1) {
      // In turns (A B, B A, ...), so that neither gets the quieter half of the run.
      const sides = [
        { store: small.store, times: fewTimes },
        { store: large.store, times: manyTimes },
      ];
      if (round % 2 !== 0) sides.reverse();
      for (const { store, times } of sides) await measureOnce(store, round < 0 ? noTimes() : times);
    }
    const rows = OPERATIONS.map((operation) => {
      const [few, lots] = [median(fewTimes[operation]), median(manyTimes[operation])];
      return [operation, `${few.toFixed(3)} ms`, `${lots.toFixed(3)} ms`, (lots / few).toFixed(2)];
    });
    return {
      title: `Requests pending on one Redis (median of ${rounds} rounds)`,
      columns: ['', `${FEW} pending`, `${many.toLocaleString('en')} pending`, 'ratio'],
      rows: [...rows, ['memory for one pending request', '', `${bytes.toLocaleString('en')} bytes`, '']],
    };
  } finally {
    await small.stop();
    await large.stop();
  }
}

async function openRecord(): Promise<OpenRecord> {
  // Always one of its own: the figures are only true of a Redis that holds nothing else.
  const server = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
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
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, () => ask(store)));
  }
}

/** Opens one approval in a thread of its own, as a turn does. */
async function ask(store: Store): Promise<string> {
  opened += 1;
  const threadId = `C0123456789:1712345678.${String(opened).padStart(6, '0')}`;
  const id = requestIdOf(threadId, randomUUID());
  await store.put(threadId, { id: 'first', body: { text: 'Please refund order A-1.' } });
  const taken = await store.take(threadId, HOUR_MS);
  if (taken.outcome !== 'taken') throw new Error(`The thread is ${taken.outcome}`);
  await store.suspend(taken.turn, {
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
  });
  return id;
}

async function measureOnce(store: Store, times: Times): Promise<void> {
  const id = await ask(store);
  const evidence = { click: id };
  times.vote.push(
    await timed('voted', () =>
      store.vote(id, { who: APPROVER, eligible: true, evidence, decision: 'approve', shown: 'd'.repeat(64) }),
    ),
  );
  const attempt = { attempt: 'first', digest: 'd'.repeat(64), silenceMs: HOUR_MS, stillEligible: [APPROVER] };
  times.start.push(await timed('started', () => store.start(id, { ...attempt, evidence })));
  await store.finish(id, {
    attempt: 'first',
    state: 'succeeded',
    message: { v: 1, role: 'user', content: [{ text: 'refunded' }] },
    summary: 'refunded',
  });
  times['one page of "waiting for me"'].push(
    await timed(PAGE, async () => ({
      outcome: (await store.listWaiting([APPROVER, 'S-finance'], { limit: PAGE })).requestIds.length,
    })),
  );
}

/** How long it took to get to the outcome that it must have. */
async function timed(expected: string | number, work: () => Promise<{ outcome: unknown }>): Promise<number> {
  const start = performance.now();
  const { outcome } = await work();
  const spent = performance.now() - start;
  if (outcome !== expected) throw new Error(`It is ${String(outcome)} and not ${expected}`);
  return spent;
}

async function usedMemory(client: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
}

function noTimes(): Times {
  return { vote: [], start: [], 'one page of "waiting for me"': [] };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
