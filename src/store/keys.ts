import { createHash } from 'node:crypto';

/** How many hash tags the record is spread over; a number that must never change for a Redis that is in use. */
export const SHARDS = 64;

const THREAD_ID = /^[A-Za-z0-9:._-]{1,200}$/;
const REQUEST_ID = /^([A-Za-z0-9:._-]{1,200})~([A-Za-z0-9-]{1,64})$/;
const PERSON = /^[A-Za-z0-9:._-]{1,100}$/;

/** Tells whether a text can be the id of a thread: ids are parts of keys and of index entries. */
export function isThreadId(value: string): boolean {
  return THREAD_ID.test(value);
}

/** Tells whether a text can be the id of a person, a group or another actor. */
export function isPerson(value: string): boolean {
  return PERSON.test(value);
}

/** A request's id names its thread, so that a button's value alone leads to the record. */
export function requestIdOf(threadId: string, interruptId: string): string {
  return `${threadId}~${interruptId}`;
}

/** The thread of a request, or `undefined` for what is no request's id. */
export function threadOf(requestId: string): string | undefined {
  return REQUEST_ID.exec(requestId)?.[1];
}

export function shardOf(threadId: string): number {
  return createHash('sha256').update(threadId).digest().readUInt16BE(0) % SHARDS;
}

/** Names every key there is; all keys of one shard have one hash tag, and so one place in a cluster. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  shard(
    shard: number,
    name: 'timers' | 'wake' | 'run' | 'outbox' | 'audit' | 'head' | 'waiting' | 'asked' | 'decided',
  ): string {
    return `${this.#prefix}{${shard}}:${name}`;
  }

  request(requestId: string): string {
    return this.#of(shardOf(threadOf(requestId) ?? ''), 'request', requestId);
  }

  round(threadId: string): string {
    return this.#of(shardOf(threadId), 'round', threadId);
  }

  log(threadId: string): string {
    return this.#of(shardOf(threadId), 'log', threadId);
  }

  /** The keys that every script gets, in the order in which its prelude names them. */
  forScript(threadId: string, shard = shardOf(threadId)): string[] {
    const own = ['thread', 'log', 'inbox', 'seen', 'round'].map((name) => this.#of(shard, name, threadId));
    const shared = [
      'timers',
      'wake',
      'run',
      'outbox',
      'rows',
      'audit',
      'head',
      'waiting',
      'asked',
      'decided',
      'sent',
    ];
    return [...own, ...shared.map((name) => `${this.#prefix}{${shard}}:${name}`)];
  }

  #of(shard: number, name: string, id: string): string {
    return `${this.#prefix}{${shard}}:${name}:${id}`;
  }
}
