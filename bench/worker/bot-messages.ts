import { z } from 'zod';

/** With what a bot of the bench is started. */
export const BotOrder = z.object({
  botToken: z.string(),
  appToken: z.string(),
  apiUrl: z.string(),
  redisUrl: z.string(),
  modelUrl: z.string(),
  approver: z.string(),
});
export type BotOrder = z.infer<typeof BotOrder>;

/** The bench asks what a process has used; with `collect`, after it has given back what it does not need. */
export const Ask = z.object({ kind: z.literal('usage'), collect: z.boolean() });
export type Ask = z.infer<typeof Ask>;

/** CPU since the process began, and memory now. */
export const Usage = z.object({
  kind: z.literal('usage'),
  cpuMs: z.number(),
  heapBytes: z.number(),
  residentBytes: z.number(),
});
export type Usage = z.infer<typeof Usage>;

/** What a process of the bench tells; `at` is of the clock that all processes of the machine share. */
export const News = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  Usage,
  z.object({ kind: z.literal('effect'), threadId: z.string(), at: z.number() }),
]);
export type News = z.infer<typeof News>;
