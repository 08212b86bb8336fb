import { defineTool, notDone } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';

/** Refunds an order. The ledger books one refund per idempotency key, so another attempt has no further effect. */
export const refundOrder = defineTool(
  {
    name: 'refund_order',
    description: 'Refunds a customer for an order, in part or whole.',
    inputSchema: z.object({
      orderId: z.string().min(1).describe('the number of the order, such as A-1001'),
      amount: z.number().int().positive().describe('the amount in cents (100 = $1.00)'),
      reason: z.string().default('').describe('why, for the books'),
    }),
    outputSchema: z.object({ orderId: z.string(), refunded: z.number(), total: z.number() }),
    effect: 'idempotent',
  },
  async ({ orderId, amount }, { idempotencyKey }) => {
    const { outcome, order } = await openLedger().refund(orderId, amount, idempotencyKey);
    if (order === undefined) throw notDone(`There is no order ${orderId}`);
    if (outcome === 'too-much')
      throw notDone(`Only ${order.amount - order.refunded} cents of ${orderId} are left to refund`);
    return { orderId, refunded: amount, total: order.refunded };
  },
);
