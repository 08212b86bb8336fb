import { z } from 'zod';
import { defineInterrupt } from '../../agent/tool.ts';

/** Lets the model declare the task complete with a structured result; the loop ends there. */
export const completeTask = defineInterrupt({
  name: 'complete_task',
  description:
    'Declare the task complete. Call it once, when everything asked for is done or cannot be done.',
  inputSchema: z.object({
    outcome: z.enum(['done', 'partly-done', 'not-done']),
    summary: z.string().min(1).describe('what was done, in one or two sentences'),
    result: z.record(z.string(), z.unknown()).optional().describe('the result as data'),
  }),
  outputSchema: z.object({ recorded: z.literal(true) }),
});
