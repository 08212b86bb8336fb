import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { REFUND_TOOL, refund } from './refund.ts';

const STEP_MS = 250;

/** The tool as our bot has it. It takes as long as the environment says. */
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
  async ({ order, amount }, { progress }) => {
    const actionMs = Number(process.env.BENCH_ACTION_MS ?? 0);
    const startedAt = performance.now();
    for (let step = 1; performance.now() - startedAt < actionMs; step += 1) {
      progress(`step ${step}`);
      await sleep(STEP_MS);
    }
    return refund(order, amount);
  },
);
