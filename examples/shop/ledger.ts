import { Redis } from 'ioredis';
import { z } from 'zod';
import { ORDERS, type Order } from './orders.ts';

/** Begins every key of the shop, so that it can share a Redis with the bot. */
export const KEY_PREFIX = 'shop:';

const REFUNDED = 'refunded';
const REFUNDS = 'refunds';
const DELETED = 'deleted-customers';
const VERSIONS = 'versions';
const STATUS = 'status-line';

// KEYS: cents refunded by order, refunds by idempotency key, deleted customers.
// ARGV: order, its customer, its amount, the refund's amount, the refund's idempotency key.
// Result: 'refunded', 'too-much' or 'unknown-order'; the same key again is 'refunded' and books nothing.
const REFUND = `
if redis.call('SISMEMBER', KEYS[3], ARGV[2]) == 1 then return 'unknown-order' end
if redis.call('HEXISTS', KEYS[2], ARGV[5]) == 1 then return 'refunded' end
local refunded = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if refunded + tonumber(ARGV[4]) > tonumber(ARGV[3]) then return 'too-much' end
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[4])
redis.call('HSET', KEYS[2], ARGV[5], ARGV[1] .. ' ' .. ARGV[4])
return 'refunded'`;

const Outcome = z.enum(['refunded', 'too-much', 'unknown-order']);

export interface RefundResult {
  readonly outcome: z.infer<typeof Outcome>;
  readonly order: Order | undefined;
}

/** Books the shop's refunds and deletions. The orders themselves are fixed; only what changes is kept in Redis. */
export interface Ledger {
  order(id: string): Promise<Order | undefined>;
  /** Books a refund once per idempotency key. */
  refund(id: string, amount: number, idempotencyKey: string): Promise<RefundResult>;
  /** Lists the orders of a customer. */
  ordersOf(customer: string): Promise<readonly Order[]>;
  /** Deletes a customer with all orders; returns the number of orders. */
  deleteCustomer(customer: string): Promise<number>;
  /** Returns the version of a service that runs in an environment. */
  version(service: string, environment: string): Promise<string | undefined>;
  setVersion(service: string, environment: string, version: string): Promise<void>;
  /** Returns the line on the status page. */
  statusLine(): Promise<string | undefined>;
  setStatusLine(line: string): Promise<void>;
}

/** Opens the ledger in the Redis of SHOP_REDIS_URL, or else in the bot's own. */
export function openLedger(
  url = process.env.SHOP_REDIS_URL ?? process.env.REDIS_URL ?? 'redis://127.0.0.1:6379',
): Ledger {
  /** Connects for one action only, so that a tool has nothing to close when the bot stops or reloads it. */
  async function withRedis<Result>(use: (redis: Redis) => Promise<Result>): Promise<Result> {
    const redis = new Redis(url, { keyPrefix: KEY_PREFIX, lazyConnect: true, maxRetriesPerRequest: 1 });
    // The failed command reports the same error.
    redis.on('error', () => {});
    try {
      return await use(redis);
    } finally {
      redis.disconnect();
    }
  }

  async function read(redis: Redis, id: string): Promise<Order | undefined> {
    const order = ORDERS.find((known) => known.id === id);
    if (order === undefined) return undefined;
    const [refunded, isDeleted] = await Promise.all([
      redis.hget(REFUNDED, id),
      redis.sismember(DELETED, order.customer),
    ]);
    return isDeleted === 1 ? undefined : { ...order, refunded: Number(refunded ?? 0) };
  }

  return {
    order: (id) => withRedis((redis) => read(redis, id)),

    refund: (id, amount, idempotencyKey) =>
      withRedis(async (redis) => {
        const order = ORDERS.find((known) => known.id === id);
        if (order === undefined) return { outcome: 'unknown-order', order: undefined };
        const reply = await redis.eval(
          REFUND,
          3,
          REFUNDED,
          REFUNDS,
          DELETED,
          id,
          order.customer,
          order.amount,
          amount,
          idempotencyKey,
        );
        return { outcome: Outcome.parse(reply), order: await read(redis, id) };
      }),

    ordersOf: (customer) =>
      withRedis(async (redis) => {
        const owned = ORDERS.filter((order) => order.customer === customer);
        const orders = await Promise.all(owned.map(({ id }) => read(redis, id)));
        return orders.filter((order) => order !== undefined);
      }),

    version: (service, environment) =>
      withRedis(async (redis) => (await redis.hget(VERSIONS, `${service} ${environment}`)) ?? undefined),

    setVersion: (service, environment, version) =>
      withRedis(async (redis) => {
        await redis.hset(VERSIONS, `${service} ${environment}`, version);
      }),

    statusLine: () => withRedis(async (redis) => (await redis.get(STATUS)) ?? undefined),

    setStatusLine: (line) =>
      withRedis(async (redis) => {
        await redis.set(STATUS, line);
      }),

    deleteCustomer: (customer) =>
      withRedis(async (redis) => {
        const orders = ORDERS.filter((order) => order.customer === customer).length;
        if (orders === 0) return 0;
        return (await redis.sadd(DELETED, customer)) === 1 ? orders : 0;
      }),
  };
}

/** One entry of the ledger, in cents. */
export interface Refund {
  readonly orderId: string;
  readonly amount: number;
}

/** Reads every refund, over a connection whose keys have no prefix yet. */
export async function readRefunds(
  redis: { hvals(key: string): Promise<readonly string[]> },
  prefix = KEY_PREFIX,
): Promise<readonly Refund[]> {
  const entries = await redis.hvals(`${prefix}${REFUNDS}`);
  return entries.map((entry) => {
    const [orderId = '', amount] = entry.split(' ');
    return { orderId, amount: Number(amount) };
  });
}
