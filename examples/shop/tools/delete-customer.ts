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
  },
  async ({ customer }) => ({ deletedOrders: await openLedger().deleteCustomer(customer) }),
);
