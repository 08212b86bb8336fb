import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool, notDone } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';
import { PAID_BY_TRANSFER } from '../orders.ts';

const TRANSFER_STEPS = ['sent to the bank', 'the bank checks it', 'waiting for the receipt'];
const TRANSFER_STEP_MS = 4_000;

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
  async ({ orderId, amount }, { idempotencyKey, progress, signal }) => {
    const { outcome, order } = await openLedger().refund(orderId, amount, idempotencyKey);
    if (order === undefined) throw notDone(`There is no order ${orderId}`);
    if (outcome === 'too-much')
      throw notDone(`Only ${order.amount - order.refunded} cents of ${orderId} are left to refund`);
    if (PAID_BY_TRANSFER.includes(order.customer))
      for (const [index, step] of TRANSFER_STEPS.entries()) {
        progress(step, (index + 1) / (TRANSFER_STEPS.length + 1));
        await sleep(TRANSFER_STEP_MS, undefined, { signal });
      }
    return { orderId, refunded: amount, total: order.refunded };
  },
);
