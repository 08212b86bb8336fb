import { z } from 'zod';
import { defineTool } from '../../src/agent/tool.ts';
import { sharedClock } from './shared-clock.ts';
import { tell } from './tell-usage.ts';

/** The tool of the bench's bot: its effect is that the bench is told when it ran, and for which thread. */
export const refundOrder = defineTool(
  {
    name: 'refundOrder0',
    description: 'Refunds an order, in part or whole, and says what was refunded.',
    inputSchema: z.object({
      order: z.string().describe('the number of the order, as the customer gives it'),
      amount: z.number().int().positive().describe('the amount in cents'),
      reason: z.string().describe('why, for the books'),
    }),
    outputSchema: z.object({ refunded: z.number(), order: z.string() }),
  },
  ({ order, amount }, { context }) => {
    tell({ kind: 'effect', threadId: String(context.threadId), at: sharedClock() });
    return { refunded: amount, order };
  },
);
