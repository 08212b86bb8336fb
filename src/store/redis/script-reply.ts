import { threadOf } from '../port/keys.ts';
import type { RecordEvent, Report, RequestFacts } from '../port/report.ts';
import { workNamed } from '../port/work.ts';

/** A reply of a script: a code, then its values. */
export type RawReply = readonly (string | readonly string[])[];

/**
 * Reads what a script returns: its reply, the work that is due, the audit rows, and the time. The reply holds only strings and lists of
 * strings; lists can be long, so zod would be slow here.
 */
export function parseReply(value: unknown): { readonly reply: RawReply; readonly report: Report } {
  const [reply, due, events, at]: unknown[] = Array.isArray(value) ? value : [];
  if (!Array.isArray(reply) || reply.length === 0) throw new TypeError('A script gave an empty reply');
  for (const part of reply) {
    const isSound = Array.isArray(part) ? part.every(isString) : isString(part);
    if (!isSound) throw new TypeError('A script reply holds a value that is no string');
  }
  return { reply, report: { due: readDue(strings(due)), events: readEvents(strings(events), Number(at)) } };
}

function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every(isString)) throw new TypeError('A script gave no report');
  return value;
}

function readDue(due: readonly string[]): Report['due'] {
  return inGroups(due, 2).flatMap(([name = '', delay]) => {
    const work = workNamed(name);
    return work === undefined ? [] : [{ work, delayMs: Number(delay) }];
  });
}

function readEvents(events: readonly string[], at: number): RecordEvent[] {
  return inGroups(events, 4).map(([event = '', subject = '', detail = '', facts = '']) => ({
    event,
    subject,
    detail,
    at,
    ...(facts !== '' && { request: readFacts(subject, facts) }),
  }));
}

function readFacts(requestId: string, facts: string): RequestFacts {
  const [kind = '', requester = '', created, decided, tool = '', policy = '', trace = ''] = facts.split('\n');
  return {
    requestId,
    threadId: threadOf(requestId) ?? '',
    kind,
    requester,
    tool: tool || NONE,
    policy: policy || NONE,
    createdAt: Number(created),
    decidedAt: decided === '' ? undefined : Number(decided),
    trace: trace || undefined,
  };
}

const NONE = 'none';

function inGroups(values: readonly string[], size: number): string[][] {
  return Array.from({ length: values.length / size }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

/** Reads the values of a reply. A missing value is a bug in the script and throws. */
export class ScriptReply {
  readonly code: string;
  readonly #reply: RawReply;

  constructor(reply: RawReply) {
    this.#reply = reply;
    this.code = this.string(0);
  }

  string(index: number): string {
    const value = this.#reply[index];
    if (typeof value !== 'string')
      throw new TypeError(`The script reply ${JSON.stringify(this.#reply)} has no string at ${index}`);
    return value;
  }

  number(index: number): number {
    return Number(this.string(index));
  }

  list(index: number): readonly string[] {
    const value = this.#reply[index];
    if (typeof value !== 'object')
      throw new TypeError(`The script reply ${JSON.stringify(this.#reply)} has no list at ${index}`);
    return value;
  }

  /** Reads all strings from an index on. */
  strings(from: number): string[] {
    return this.#reply.slice(from).map((_, index) => this.string(from + index));
  }

  /** Reads the rest as a reply of its own, as a script that joins two gives it. */
  after(index: number): ScriptReply | undefined {
    return this.#reply.length > index ? new ScriptReply(this.#reply.slice(index)) : undefined;
  }

  /** Returns the code, which must be one of these. */
  oneOf<Code extends string>(...codes: readonly Code[]): Code {
    const code = codes.find((candidate) => candidate === this.code);
    if (code === undefined) throw new TypeError(`A script gave the unexpected code "${this.code}"`);
    return code;
  }

  /** Reads the results that most scripts share, or one that is only its code. */
  plain<Outcome extends string>(
    ...outcomes: readonly Outcome[]
  ):
    | { outcome: Outcome }
    | { outcome: 'settled'; state: string; by: string }
    | { outcome: 'unknown' | 'malformed' } {
    if (this.code === 'unknown' || this.code === 'malformed') return { outcome: this.code };
    if (this.code === 'settled') return { outcome: 'settled', state: this.string(1), by: this.string(2) };
    return { outcome: this.oneOf(...outcomes) };
  }
}
