import { hash } from 'node:crypto';

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

/** The shards of the threads that were spoken of lately: every step of a turn asks for the same one. */
const knownShards = new Map<string, number>();
const MOST_KNOWN = 1_000;

export function shardOf(threadId: string): number {
  const known = knownShards.get(threadId);
  if (known !== undefined) return known;
  if (knownShards.size >= MOST_KNOWN) knownShards.clear();
  const shard = Number.parseInt(hash('sha256', threadId).slice(0, 4), 16) % SHARDS;
  knownShards.set(threadId, shard);
  return shard;
}

const THREAD_KEYS = ['thread', 'log', 'inbox', 'seen', 'round'] as const;
const SHARD_KEYS = [
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
] as const;
type ThreadKey = (typeof THREAD_KEYS)[number];
type ShardKey = (typeof SHARD_KEYS)[number];

/** Every kind of key but the requests' own, in the order in which scripts take them. */
export const KEY_NAMES = [...THREAD_KEYS, ...SHARD_KEYS];
export type KeyName = ThreadKey | ShardKey;

const threadKeys: ReadonlySet<KeyName> = new Set(THREAD_KEYS);

function isThreadKey(name: KeyName): boolean {
  return threadKeys.has(name);
}

/** Names every key there is; all keys of one shard have one hash tag, and so one place in a cluster. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  shard(shard: number, name: ShardKey): string {
    return `${this.#prefix}{${shard}}:${name}`;
  }

  request(requestId: string, shard = shardOf(threadOf(requestId) ?? '')): string {
    return this.#of(shard, 'request', requestId);
  }

  /** What never changes of a request lies beside it: in its hash, long texts would make every field cost more. */
  record(requestId: string, shard = shardOf(threadOf(requestId) ?? '')): string {
    return this.#of(shard, 'record', requestId);
  }

  round(threadId: string): string {
    return this.#of(shardOf(threadId), 'round', threadId);
  }

  log(threadId: string): string {
    return this.#of(shardOf(threadId), 'log', threadId);
  }

  /** The keys of some names, in their order, of a thread and its shard. */
  named(names: readonly KeyName[], threadId: string, shard: number): string[] {
    const tag = `${this.#prefix}{${shard}}:`;
    return names.map((name) => (isThreadKey(name) ? `${tag}${name}:${threadId}` : tag + name));
  }

  /** All keys that there are of a thread and its shard. */
  forScript(threadId: string, shard = shardOf(threadId)): string[] {
    return this.named(KEY_NAMES, threadId, shard);
  }

  #of(shard: number, name: string, id: string): string {
    return `${this.#prefix}{${shard}}:${name}:${id}`;
  }
}
