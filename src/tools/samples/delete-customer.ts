import { z } from 'zod';
import { defineTool } from '../../agent/tool.ts';
import { ledgerIn } from './ledger.ts';

/** Deletes a customer of the sample shop for good: the kind of action that two people should sign. */
export const deleteCustomer = defineTool(
  {
    name: 'delete_customer',
    description: 'Deletes a customer and all their orders. This cannot be undone.',
    inputSchema: z.object({ customer: z.string().min(1).describe('the customer, by name') }),
    outputSchema: z.object({ deletedOrders: z.number() }),
  },
  async ({ customer }, { context }) => ({ deletedOrders: await ledgerIn(context).deleteCustomer(customer) }),
);
