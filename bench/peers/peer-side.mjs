import { Redis } from 'ioredis';
import { z } from 'zod';

/*
 * The common part of the peers: they keep a thread as one JSON text in Redis. The bench's own modules are used as they were
 * compiled for its workers, so that all sides run the same loop and say the same.
 */
const built = (path) =>
  import(new URL(`../../node_modules/.cache/countersign-bench/bench/${path}`, import.meta.url));
const { serveBatches } = await built('turns/serve-batches.js');
const { buildHistory } = await built('support/history.js');
const { INSTRUCTIONS, REFUND_TOOL, REQUEST_TEXT, refund } = await built('support/refund.js');

export { INSTRUCTIONS, REFUND_TOOL, refund, serveBatches };

export const REFUND_INPUT = z.object({
  order: z.string().describe(REFUND_TOOL.order),
  amount: z.number().int().positive().describe(REFUND_TOOL.amount),
  reason: z.string().describe(REFUND_TOOL.reason),
});

/** A batch for the side `whole` does not stream. */
export function isStreaming({ side }) {
  return side !== 'whole';
}

/** Opens the side of one peer: each step reads the whole state and writes the whole state. */
export function openSide({ redisUrl }, name, { before = [], toMessage, toHistory, pause, resume }) {
  const redis = new Redis(redisUrl);
  const key = (threadId) => `${name}:${threadId}`;
  const load = async (threadId) => JSON.parse((await redis.get(key(threadId))) ?? 'null');
  const save = (threadId, state) => redis.set(key(threadId), JSON.stringify(state));
  return {
    fill: (threadId, messages) =>
      save(threadId, { messages: [...before, ...buildHistory(messages).map(toHistory)] }),
    async pause(threadId) {
      const { messages } = (await load(threadId)) ?? { messages: before };
      await save(threadId, await pause([...messages, toMessage(REQUEST_TEXT)]));
    },
    findRequest: async (threadId) => threadId,
    resume: async (threadId) => save(threadId, await resume(await load(threadId))),
  };
}
