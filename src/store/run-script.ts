import { type Cluster, Redis, ReplyError } from 'ioredis';
import { type Keys, shardOf } from './keys.ts';
import type { Script, ScriptName, Scripts } from './scripts.ts';

export type RedisClient = Redis | Cluster;

/** What a script says: a code, and what belongs to it. */
export type Said = readonly (string | readonly string[])[];

export interface Call {
  readonly threadId: string;
  /** Only for scripts about a whole shard. */
  readonly shard?: number;
  readonly requestIds?: readonly string[];
  readonly args: readonly (string | number)[];
}

export interface RunScript {
  (name: ScriptName, call: Call): Promise<Said>;
  /** Runs a script and reads the thread's log in the same round trip. */
  withLog(name: ScriptName, call: Call): Promise<{ readonly said: Said; readonly log: ThreadLog }>;
  /** A thread's log that is read only when somebody asks for it. */
  logOf(threadId: string): Pick<ThreadLog, 'ofLength'>;
}

/** A thread's log as it was read beside a script: a list goes through Lua many times more slowly than past it. */
export interface ThreadLog {
  readonly rows: readonly string[];
  /** The log of so many rows; where it was read too early it is read again. */
  ofLength(length: number): Promise<readonly string[]>;
}

/** Runs scripts by their digest, sending the text only where the server does not know it. */
export function scriptRunner(client: RedisClient, keys: Keys, scripts: Scripts): RunScript {
  const run = async (name: ScriptName, call: Call): Promise<Said> => {
    const { threadId, shard = shardOf(threadId), requestIds = [], args } = call;
    const script = scripts[name];
    const own = keys.named(script.keys, threadId, shard);
    for (const id of requestIds) {
      own.push(keys.request(id, shard));
      if (script.takesRecords) own.push(keys.record(id, shard));
    }
    return parseSaid(await evaluate(client, script, own, [threadId, ...args]));
  };
  return Object.assign(run, {
    async withLog(name: ScriptName, call: Call) {
      const key = keys.log(call.threadId);
      const [said, rows] = await Promise.all(
        inOneWrite(client, () => [run(name, call), client.lrange(key, 0, -1)] as const),
      );
      const log: ThreadLog = {
        rows,
        // Rows are only ever added, so as many rows are the same rows.
        ofLength: async (length) => (rows.length === length ? rows : client.lrange(key, 0, -1)),
      };
      return { said, log };
    },
    logOf: (threadId: string) => ({ ofLength: () => client.lrange(keys.log(threadId), 0, -1) }),
  });
}

/** Sends several commands as one piece; a cluster finds the connection of each by itself. */
export function inOneWrite<Sent>(client: RedisClient, send: () => Sent): Sent {
  const stream = client instanceof Redis ? client.stream : undefined;
  stream?.cork();
  try {
    return send();
  } finally {
    stream?.uncork();
  }
}

/** Scripts say words and lists of words and nothing else; their lists can be long, and a look at each word is enough. */
function parseSaid(value: unknown): Said {
  if (!Array.isArray(value) || value.length === 0) throw new TypeError('A script said nothing');
  for (const part of value) {
    const isSound = Array.isArray(part) ? part.every(isWord) : isWord(part);
    if (!isSound) throw new TypeError('A script said something that is no word');
  }
  return value;
}

function isWord(value: unknown): boolean {
  return typeof value === 'string';
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
