import { defineTool } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';
import { Order } from '../orders.ts';

/** Reads one order. */
export const readOrder = defineTool(
  {
    name: 'read_order',
    description:
      'Reads an order: what was bought, by whom, for how much (in cents), how much was refunded, and how much is left to refund.',
    inputSchema: z.object({ orderId: z.string().min(1).describe('the number of the order, such as A-1001') }),
    outputSchema: Order.extend({ left: z.number().int() }),
    effect: 'none',
  },
  async ({ orderId }) => {
    const order = await openLedger().order(orderId);
    if (order === undefined) throw new Error(`There is no order ${orderId}`);
    return { ...order, left: order.amount - order.refunded };
  },
);
