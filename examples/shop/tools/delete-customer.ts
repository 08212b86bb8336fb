import { defineTool } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';

/** Deletes a customer for good: the kind of action that two people should approve. */
export const deleteCustomer = defineTool(
  {
    name: 'delete_customer',
    description: 'Deletes a customer and all their orders. This cannot be undone.',
    inputSchema: z.object({ customer: z.string().min(1).describe('the customer, by name') }),
    outputSchema: z.object({ deletedOrders: z.number() }),
    preview: async ({ customer }) => {
      const orders = await openLedger().ordersOf(customer);
      const before = orders.map(({ id, item }) => `${id}, ${item}`).join('\n');
      return { before: before === '' ? 'No orders' : before, after: 'Nothing is left' };
    },
  },
  async ({ customer }) => ({ deletedOrders: await openLedger().deleteCustomer(customer) }),
);
