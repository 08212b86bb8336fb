import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { text } from './composition.ts';

/** Schema of an update of one of the app's tasks. */
export const taskUpdate = z.strictObject({
  type: z.literal('task_update'),
  id: text(LIMITS.taskId),
  title: text(LIMITS.taskTitle),
  status: z.enum(['pending', 'in_progress', 'complete', 'error']),
  details: z.string().optional(),
  output: z.string().optional(),
  sources: z.array(z.strictObject({ type: z.literal('url'), url: z.string(), text: z.string() })).optional(),
});

const chunk = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown_text'), text: z.string() }),
  z.strictObject({ type: z.literal('plan_update'), title: text(LIMITS.taskTitle) }),
  taskUpdate,
  z.strictObject({
    type: z.literal('blocks'),
    blocks: z.array(z.record(z.string(), z.unknown())).min(1).max(LIMITS.messageBlocks),
  }),
]);

/** The chunks of one streaming call. */
export const streamChunks = z.array(chunk);
export type StreamChunk = z.infer<typeof chunk>;
