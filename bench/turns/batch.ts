import { z } from 'zod';

/** Work for a worker of the bench: one operation for each id, `atOnce` of them at a time. */
export const Batch = z.object({
  operation: z.enum(['fill', 'pause', 'find', 'resume']),
  /** `whole` is the floor without streaming; a peer uses `floor` and `whole` in the same sense. */
  side: z.enum(['ours', 'floor', 'whole']),
  redisUrl: z.string(),
  modelUrl: z.string(),
  messages: z.number(),
  /** Thread ids, or for `resume` what `find` returned for them. */
  ids: z.array(z.string()),
  atOnce: z.number(),
});
export type Batch = z.infer<typeof Batch>;

/** The cost of a batch or an operation: wall time, and the worker's own CPU time. */
export const Spent = z.object({ wallMs: z.number(), cpuMs: z.number() });
export type Spent = z.infer<typeof Spent>;

export const BatchResult = Spent.extend({ found: z.array(z.string()) });
export type BatchResult = z.infer<typeof BatchResult>;
