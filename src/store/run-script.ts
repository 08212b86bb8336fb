import { type Cluster, type Redis, ReplyError } from 'ioredis';
import { z } from 'zod';
import type { Keys } from './keys.ts';
import { shardOf } from './keys.ts';
import type { Script, ScriptName, Scripts } from './scripts.ts';

export type RedisClient = Redis | Cluster;

/** What a script says: a code, and what belongs to it. */
export const Said = z.array(z.union([z.string(), z.array(z.string())])).nonempty();
export type Said = z.infer<typeof Said>;

export interface Call {
  readonly threadId: string;
  /** Only for scripts about a whole shard. */
  readonly shard?: number;
  readonly requestIds?: readonly string[];
  readonly args: readonly (string | number)[];
}

export type RunScript = (name: ScriptName, call: Call) => Promise<Said>;

/** Runs scripts by their digest, sending the text only where the server does not know it. */
export function scriptRunner(client: RedisClient, keys: Keys, scripts: Scripts): RunScript {
  return async (name, { threadId, shard = shardOf(threadId), requestIds = [], args }) => {
    const named = [...keys.forScript(threadId, shard), ...requestIds.map((id) => keys.request(id))];
    return Said.parse(await evaluate(client, scripts[name], named, [threadId, ...args]));
  };
}

async function evaluate(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof ReplyError) || !String(error).includes('NOSCRIPT')) throw error;
    return client.eval(script.text, keys.length, ...keys, ...args);
  }
}
