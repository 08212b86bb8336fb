import { Redis } from 'ioredis';
import { z } from 'zod';

/*
 * What both peers have in common: they take the orders of the bench over IPC as its own workers do, and keep a thread as one
 * JSON text in Redis. The sources of the bench are used as they were compiled for its workers, so that all sides say the same.
 */
const built = (path) =>
  import(new URL(`../../node_modules/.cache/countersign-bench/bench/${path}`, import.meta.url));
const { benchTools } = await built('turn/bench-tools.js');
const { refund, SAID } = await built('turn/side.js');
const { buildHistory } = await built('build-history.js');

export { refund };

const toolbox = benchTools(1);
export const NAME = 'refundOrder0';
export const WORDS = {
  system: `You help.\n\n${toolbox.notice({ channel: '', requester: '' })}`,
  description: toolbox.find(NAME).tool.description,
  order: 'the number of the order, as the customer gives it',
  amount: 'the amount in cents',
  reason: 'why, for the books',
};
export const INPUT = z.object({
  order: z.string().describe(WORDS.order),
  amount: z.number().int().positive().describe(WORDS.amount),
  reason: z.string().describe(WORDS.reason),
});

/** The bench's name for the side that does not stream is `whole`. */
export function isStreaming({ side }) {
  return side !== 'whole';
}

/** The side of the race for one peer: each step reads the whole state and writes the whole state. */
export function openSide({ redisUrl }, name, { before = [], toMessage, toHistory, pause, resume }) {
  const redis = new Redis(redisUrl);
  const place = (threadId) => `${name}:${threadId}`;
  const load = async (threadId) => JSON.parse((await redis.get(place(threadId))) ?? 'null');
  const save = (threadId, state) => redis.set(place(threadId), JSON.stringify(state));
  return {
    fill: (threadId, messages) =>
      save(threadId, { messages: [...before, ...buildHistory(messages).map(toHistory)] }),
    async pause(threadId) {
      const { messages } = (await load(threadId)) ?? { messages: before };
      await save(threadId, await pause([...messages, toMessage(SAID)]));
    },
    handleOf: async (threadId) => threadId,
    resume: async (threadId) => save(threadId, await resume(await load(threadId))),
  };
}

/** Does the orders that come, one batch after the other, and tells what each took. */
export function serve(open) {
  const sides = new Map();
  const carryOut = async (order) => {
    const key = `${order.side} ${order.redisUrl} ${order.modelUrl}`;
    const side = sides.get(key) ?? open(order);
    sides.set(key, side);
    const found = [];
    const one = {
      fill: (id) => side.fill(id, order.messages),
      pause: (id) => side.pause(id),
      find: async (id) => found.push(await side.handleOf(id)),
      resume: (id) => side.resume(id),
    }[order.what];
    const waiting = [...order.ids].reverse();
    const lane = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await one(id);
    };
    const cpu = process.cpuUsage();
    const began = performance.now();
    await Promise.all(Array.from({ length: order.atOnce }, lane));
    const wallMs = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    return { wallMs, cpuMs: (user + system) / 1000, found };
  };
  process.on('message', (order) => {
    carryOut(order).then(
      (done) => process.send(done),
      (error) => {
        process.stderr.write(`${error.stack}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}
