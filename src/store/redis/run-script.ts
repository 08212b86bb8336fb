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
  const prepare = (name: ScriptName, call: Call): PreparedCall => {
    const { threadId, shard = shardOf(threadId), requestIds = [], args } = call;
    const script = scripts[name];
    const own = keys.named(script.keys, threadId, shard);
    for (const id of requestIds) {
      own.push(keys.request(id, shard));
      if (script.takesRecords) own.push(keys.record(id, shard));
    }
    return { script, args: [own.length, ...own, threadId, ...args] };
  };
  const run = async (name: ScriptName, call: Call): Promise<RawReply> => {
    const { script, args } = prepare(name, call);
    const sent = client.evalsha(script.sha, ...args);
    return parseReply(await sent.catch((error: unknown) => sendText(client, { script, args }, error)));
  };
  return Object.assign(run, {
    async withLog(name: ScriptName, call: Call) {
      const { script, args } = prepare(name, call);
      const key = keys.log(call.threadId);
      const both = client
        .pipeline()
        .evalsha(script.sha, ...args)
        .lrange(key, 0, -1);
      const [ran, read] = (await both.exec()) ?? [];
      const [error, reply] = ran ?? [new Error('A pipeline gave no reply')];
      const rows = read?.[0] === null ? readRows(read[1]) : undefined;
      const log: ThreadLog = {
        // Rows are only ever added, so equal length means equal rows.
        ofLength: async (length) => (rows?.length === length ? rows : client.lrange(key, 0, -1)),
      };
      return {
        reply: parseReply(error === null ? reply : await sendText(client, { script, args }, error)),
        log,
      };
    },
    auditBody(body: JsonObject): [text: string, digest: string] {
      const text = canonicalJson(redact(body));
      return [text, sha256(text)];
    },
  });
}

/** A script with the count of its keys, the keys and the other arguments. */
interface PreparedCall {
  readonly script: Script;
  readonly args: [keyCount: number, ...keysAndArgs: (string | number)[]];
}

/** Sends the text of a script whose digest the server does not know; throws any other error. */
function sendText(client: RedisClient, { script, args }: PreparedCall, error: unknown): Promise<unknown> {
  if (!(error instanceof ReplyError) || !String(error).includes('NOSCRIPT')) throw error;
  return client.eval(script.text, ...args);
}

/** Reads the rows of a list; `undefined` if they did not arrive. */
function readRows(rows: unknown): readonly string[] | undefined {
  return Array.isArray(rows) ? rows : undefined;
}
