import { z } from 'zod';
import { defineTool } from '../../agent/tool.ts';
import { ledgerIn, Order } from './ledger.ts';

/** Reads one order of the sample shop. */
export const readOrder = defineTool(
  {
    name: 'read_order',
    description:
      'Reads an order: what was bought, by whom, for how much (in cents), and how much was refunded.',
    inputSchema: z.object({ orderId: z.string().min(1).describe('the number of the order, such as A-1001') }),
    outputSchema: Order,
    idempotent: true,
  },
  async ({ orderId }, { context }) => {
    const order = await ledgerIn(context).order(orderId);
    if (order === undefined) throw new Error(`There is no order ${orderId}`);
    return order;
  },
);
