import { Redis } from 'ioredis';
import { DEFAULT_PREFIX, Keys } from '../../src/store/port/keys.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { median } from '../support/quantiles.ts';
import type { Table } from '../support/table.ts';

const FEW = 100;
const AT_ONCE = 200;
const DAY_MS = 86_400_000;
const SLICES = 60;
const USE = { key: 'refunds|tool|refund_order', amount: 1, max: 1_000_000_000, windowMs: DAY_MS };

/** Measures a call that counts against a limit, beside one that counts nothing, with few and with many actions in its window. */
export async function measureLimits({
  rounds,
  many,
}: {
  readonly rounds: number;
  readonly many: number;
}): Promise<Table> {
  const server = await startPrivateRedis();
  const client = new Redis(server.url);
  const store = openRedisStore({ client });
  try {
    const counts = [FEW, many];
    const times = new Map<string, number[]>();
    for (const count of counts) {
      await fill(store, count);
      await spread(client, count);
    }
    for (let round = 0; round < rounds; round += 1)
      for (const count of round % 2 === 0 ? counts : counts.toReversed()) {
        await measure(times, `count ${count}`, () =>
          store.countCall('T-new', { ref: `${round}`, limits: [useOf(count)] }),
        );
        await measure(times, `read ${count}`, () => store.readTotals([useOf(count)]));
      }
    const row = (name: string, operation: string) => {
      const [few = Number.NaN, more = Number.NaN] = counts.map((count) =>
        median(times.get(`${operation} ${count}`) ?? []),
      );
      return [name, `${few.toFixed(3)} ms`, `${more.toFixed(3)} ms`, (more / few).toFixed(2)];
    };
    const named = counts.map((count) => count.toLocaleString('en'));
    return {
      title: `A limit with actions in its window (median of ${rounds} rounds)`,
      columns: ['', ...named.map((count) => `${count} actions`), `${named[1]} of ${FEW}`],
      rows: [row('count a call', 'count'), row('read the totals', 'read')],
    };
  } finally {
    await store.close();
    await server.stop();
  }
}

function useOf(count: number): typeof USE {
  return { ...USE, key: `${USE.key}|${count}` };
}

async function fill(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) =>
        store.countCall('T-old', { ref: `${from + index}`, limits: [useOf(count)] }),
      ),
    );
}

/** Fills the other slices of the window as well, so that each call reads as many as there can be. */
async function spread(client: Redis, count: number): Promise<void> {
  const key = `${new Keys(DEFAULT_PREFIX).shared('limit')}:${useOf(count).key}`;
  const { size = '', ...slices } = await client.hgetall(key);
  const [last = ''] = Object.keys(slices);
  if (Number(size) * SLICES !== DAY_MS) throw new Error('The window has other slices than this knows.');
  for (let back = 1; back < SLICES; back += 1)
    await client.hset(key, Number(last) - back, `${count} ${count}`);
}

async function measure(
  times: Map<string, number[]>,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const start = performance.now();
  await work();
  times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
}
