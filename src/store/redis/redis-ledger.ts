import { z } from 'zod';
import type { RedisClient } from './run-script.ts';

const Row = z.object({
  customer: z.string(),
  item: z.string(),
  amount: z.coerce.number(),
  refunded: z.coerce.number(),
});

const SAMPLES = [
  { id: 'A-1001', customer: 'Hooper Ltd', item: 'Standing desk', amount: 45_000 },
  { id: 'A-1002', customer: 'Hooper Ltd', item: 'Desk lamp', amount: 8_900 },
  { id: 'A-1003', customer: 'Ines Marr', item: 'Office chair', amount: 32_000 },
  { id: 'A-1004', customer: 'Tomo Arai', item: 'Notebook, 10 pieces', amount: 2_400 },
];

// KEYS: the order, the refunds by key. ARGV: amount, key.
// Result: 'unknown-order', 'too-much' or 'refunded'; the same key again is 'refunded' and books nothing.
const REFUND = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown-order' end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 'refunded' end
local amount, refunded = tonumber(redis.call('HGET', KEYS[1], 'amount')), tonumber(redis.call('HGET', KEYS[1], 'refunded'))
if refunded + tonumber(ARGV[1]) > amount then return 'too-much' end
redis.call('HINCRBY', KEYS[1], 'refunded', ARGV[1])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
return 'refunded'`;

interface Order {
  readonly id: string;
  readonly customer: string;
  readonly item: string;
  readonly amount: number;
  readonly refunded: number;
}

/** The ledger of the sample tools: sample orders, and refunds that are booked once per key. */
export function openRedisLedger(client: RedisClient, prefix = 'countersign:') {
  const key = (name: string) => `${prefix}{ledger}:${name}`;
  const orderKey = (id: string) => key(`order:${id}`);

  async function order(id: string): Promise<Order | undefined> {
    const row = Row.safeParse(await client.hgetall(orderKey(id)));
    return row.success ? { id, ...row.data } : undefined;
  }

  return {
    /** Fills an empty ledger with the sample orders. */
    async fill(): Promise<void> {
      if ((await client.setnx(key('filled'), '1')) === 0) return;
      for (const { id, ...row } of SAMPLES) {
        await client.hset(orderKey(id), { ...row, refunded: 0 });
        await client.sadd(key(`customer:${row.customer}`), id);
      }
    },

    order,

    async refund(id: string, amount: number, refundKey: string) {
      const reply = await client.eval(REFUND, 2, orderKey(id), key('refunds'), amount, refundKey);
      const outcome = z.enum(['refunded', 'too-much', 'unknown-order']).parse(reply);
      const found = await order(id);
      return found === undefined ? { outcome } : { outcome, order: found };
    },

    async deleteCustomer(customer: string): Promise<number> {
      const ids = await client.smembers(key(`customer:${customer}`));
      if (ids.length > 0) await client.del(...ids.map(orderKey), key(`customer:${customer}`));
      return ids.length;
    },
  };
}
