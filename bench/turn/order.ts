import { z } from 'zod';

/** A batch of work for a worker of the bench; `atOnce` operations go on side by side. */
export const Order = z.object({
  what: z.enum(['fill', 'pause', 'find', 'resume', 'deliver']),
  side: z.enum(['floor', 'whole', 'ours']),
  redisUrl: z.string(),
  modelUrl: z.string(),
  tools: z.number(),
  messages: z.number(),
  /** Threads, or what `find` has found for them. */
  ids: z.array(z.string()),
  atOnce: z.number(),
});
export type Order = z.infer<typeof Order>;

/** What a batch took: by the clock, and of the worker's own CPU. */
export const Spent = z.object({ wallMs: z.number(), cpuMs: z.number() });
export type Spent = z.infer<typeof Spent>;

/** The answer of a worker; `found` is what clicks on the cards of paused threads would carry. */
export const Done = Spent.extend({ found: z.array(z.string()) });
export type Done = z.infer<typeof Done>;
