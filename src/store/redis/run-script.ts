import { type Cluster, type Redis, ReplyError } from 'ioredis';
import { Packr } from 'msgpackr';
import { canonicalJson, type JsonObject } from '../../agent/json.ts';
import { refusalOf } from '../errors.ts';
import type { Keys } from '../port/keys.ts';
import type { Report } from '../port/report.ts';
import type { Work } from '../port/work.ts';
import { sha256 } from '../record/chain-check.ts';
import { parseReply, type RawReply } from './script-reply.ts';
import type { Script, ScriptName, Scripts } from './scripts.ts';

export type RedisClient = Redis | Cluster;

export interface Call {
  readonly threadId: string;
  readonly requestIds?: readonly string[];
  readonly args: readonly (string | number | Buffer)[];
}

/** The named values of a script, all of them as text. */
export interface Named {
  readonly [name: string]: NamedValue;
}
type NamedValue = string | number | Named | readonly NamedValue[];

const packer = new Packr({ useRecords: false });

/** Packs the named values of a script; a number is packed as its text, as Redis has it. */
export function pack(values: Named): Buffer {
  return packer.pack(asText(values));
}

function asText(value: NamedValue): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(asText);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asText(each)]));
}

function isList(value: NamedValue): value is readonly NamedValue[] {
  return Array.isArray(value);
}

export interface RunScript {
  (name: ScriptName, call: Call): Promise<RawReply>;
  /** Runs a script and reads the thread's log in the same round trip. */
  withLog(name: ScriptName, call: Call): Promise<{ readonly reply: RawReply; readonly log: ThreadLog }>;
  /** Reports work that is due and that no script has reported. */
  wake(work: Work): void;
  /** The trace that new requests and messages belong to. */
  trace(): string | undefined;
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

/** The hooks of the record; all are optional. */
export interface RecordHooks {
  /** Removes secrets from everything that enters the audit log. */
  readonly redact?: Redact;
  /** Called with the report of each script that has one, before its verb returns. Must not throw. */
  readonly onReport?: (report: Report) => void;
  /** Called with Redis's code when it refuses to write: OOM if its memory is full, MISCONF if its disk is. Must not throw. */
  readonly onRefusedWrite?: (code: string) => void;
  /** Returns the trace of the work that writes now, as a W3C `traceparent`. */
  readonly trace?: () => string | undefined;
}

/** Runs scripts by their digest, and sends the text only if the server does not know it. */
export function scriptRunner(
  client: RedisClient,
  keys: Keys,
  scripts: Scripts,
  hooks: RecordHooks = {},
): RunScript {
  const { redact = (body) => body, onReport = () => {}, trace = () => undefined, onRefusedWrite } = hooks;
  const run = async (name: ScriptName, call: Call): Promise<RawReply> => {
    const { threadId, requestIds = [], args } = call;
    const script = scripts[name];
    const own = keys.named(script.keys, threadId);
    for (const id of requestIds) {
      own.push(keys.ask(id), keys.run(id), keys.record(id));
    }
    const answer = await evaluate(client, script, own, [threadId, ...args]).catch((error: unknown) => {
      const code = refusalOf(error);
      if (code !== undefined) onRefusedWrite?.(code);
      throw error;
    });
    const { reply, report } = parseReply(answer);
    if (report.due.length + report.events.length > 0) onReport(report);
    return reply;
  };
  return Object.assign(run, {
    trace,
    wake: (work: Work) => onReport({ events: [], due: [{ work, delayMs: 0 }] }),
    async withLog(name: ScriptName, call: Call) {
      const key = keys.log(call.threadId);
      const [reply, rows] = await Promise.all([run(name, call), client.lrange(key, 0, -1)]);
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
  args: Call['args'],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof ReplyError) || !String(error).includes('NOSCRIPT')) throw error;
    return client.eval(script.text, keys.length, ...keys, ...args);
  }
}
