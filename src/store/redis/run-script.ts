import { type Cluster, type Redis, ReplyError } from 'ioredis';
import { canonicalJson, type JsonObject } from '../../agent/json.ts';
import { sha256 } from '../record/chain-check.ts';
import { type Keys, shardOf } from '../record/keys.ts';
import { parseReply, type RawReply } from './script-reply.ts';
import type { Script, ScriptName, Scripts } from './scripts.ts';

export type RedisClient = Redis | Cluster;

export interface Call {
  readonly threadId: string;
  /** Only for scripts about a whole shard. */
  readonly shard?: number;
  readonly requestIds?: readonly string[];
  /** Keys of the same shard behind all others. */
  readonly otherKeys?: readonly string[];
  readonly args: readonly (string | number)[];
}

export interface RunScript {
  (name: ScriptName, call: Call): Promise<RawReply>;
  /** Runs a script and reads the thread's log in the same round trip. */
  withLog(name: ScriptName, call: Call): Promise<{ readonly reply: RawReply; readonly log: ThreadLog }>;
  /** Writes the body of an audit row without secrets: the text, and the digest that the chain covers. */
  auditBody(body: JsonObject): [text: string, digest: string];
}

/** Removes secrets from a value that is about to be stored where many people may read it. */
export type Redact = (body: JsonObject) => JsonObject;

/** A thread's log, read beside a script because a long list passes through Lua many times more slowly. */
export interface ThreadLog {
  /** Returns the log with this many rows, and reads it again if it was read too early. */
  ofLength(length: number): Promise<readonly string[]>;
}

/** Runs scripts by their digest, and sends the text only if the server does not know it. */
export function scriptRunner(
  client: RedisClient,
  keys: Keys,
  scripts: Scripts,
  redact: Redact = (body) => body,
): RunScript {
  const run = async (name: ScriptName, call: Call): Promise<RawReply> => {
    const { threadId, shard = shardOf(threadId), requestIds = [], otherKeys = [], args } = call;
    const script = scripts[name];
    const own = keys.named(script.keys, threadId, shard);
    for (const id of requestIds) {
      own.push(keys.request(id, shard));
      if (script.takesRecords) own.push(keys.record(id, shard));
    }
    own.push(...otherKeys);
    return parseReply(await evaluate(client, script, own, [threadId, ...args]));
  };
  return Object.assign(run, {
    async withLog(name: ScriptName, call: Call) {
      const { threadId, shard = shardOf(threadId) } = call;
      const key = keys.log(threadId, shard);
      const [reply, rows] = await Promise.all([run(name, { ...call, shard }), client.lrange(key, 0, -1)]);
      const log: ThreadLog = {
        // Rows are only ever added, so equal length means equal rows.
        ofLength: async (length) => (rows.length === length ? rows : client.lrange(key, 0, -1)),
      };
      return { reply, log };
    },
    auditBody(body: JsonObject): [text: string, digest: string] {
      const text = canonicalJson(redact(body));
      return [text, sha256(text)];
    },
  });
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
