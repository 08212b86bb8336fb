import { z } from 'zod';

/** The failure at a point: the worker dies, sleeps until it is woken from outside, or loses its connections to Redis. */
export const FaultAction = z.enum(['kill', 'stop', 'cut']);
export type FaultAction = z.infer<typeof FaultAction>;

/** The order of the world to a worker: the points to fail at, and how often each is passed first. */
export const Arm = z.object({
  kind: z.literal('arm'),
  points: z.array(z.string()),
  action: FaultAction,
  passes: z.number().int().nonnegative(),
});
export type Arm = z.infer<typeof Arm>;

/** The world asks how much memory is in use when all that is not needed has been given back. */
export const Measure = z.object({ kind: z.literal('measure') });

/** A message of a worker to the world. */
export const WorkerNews = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), port: z.number() }),
  z.object({ kind: z.literal('memory'), heapUsed: z.number(), rss: z.number() }),
  /** The first time that it came to this point. */
  z.object({ kind: z.literal('reached'), point: z.string() }),
  /** It is about to do what it was armed for. */
  z.object({ kind: z.literal('fault'), point: z.string(), action: FaultAction }),
]);
export type WorkerNews = z.infer<typeof WorkerNews>;
