import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { REFUND_TOOL, refund } from './refund.ts';

/** The tool as our bot has it. */
export const refundOrder = defineTool(
  {
    name: REFUND_TOOL.name,
    description: REFUND_TOOL.description,
    inputSchema: z.object({
      order: z.string().describe(REFUND_TOOL.order),
      amount: z.number().int().positive().describe(REFUND_TOOL.amount),
      reason: z.string().describe(REFUND_TOOL.reason),
    }),
    outputSchema: z.object({ refunded: z.number(), order: z.string() }),
  },
  ({ order, amount }) => refund(order, amount),
);
