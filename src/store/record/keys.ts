import { hash } from 'node:crypto';

/** The shard that holds the checkpoints of all chains, the progress of their export and the manifest that is active. */
export const EXPORT_SHARD = 0;

/** The shard that holds the notes about all channels, and the list of these channels. */
export const MEMORY_SHARD = 0;

/** The number of hash tags that the record is spread over. It must never change for a Redis in use. */
export const SHARDS = 64;

const THREAD_ID = /^[A-Za-z0-9:._-]{1,200}$/;
const REQUEST_ID = /^([A-Za-z0-9:._-]{1,200})~([A-Za-z0-9-]{1,64})$/;
const PERSON = /^[A-Za-z0-9:._-]{1,100}$/;

/** Checks the id of a thread; ids are parts of keys and index entries. */
export function isThreadId(value: string): boolean {
  return THREAD_ID.test(value);
}

/** Checks the id of a person, a group or another actor. */
export function isPerson(value: string): boolean {
  return PERSON.test(value);
}

/** Builds a request's id, which names its thread, so that a button's value alone leads to the record. */
export function requestIdOf(threadId: string, interruptId: string): string {
  return `${threadId}~${interruptId}`;
}

/** Returns the thread of a request, or `undefined` for a malformed id. */
export function threadOf(requestId: string): string | undefined {
  return REQUEST_ID.exec(requestId)?.[1];
}

export function shardOf(threadId: string): number {
  return Number.parseInt(hash('sha256', threadId).slice(0, 4), 16) % SHARDS;
}

const THREAD_KEYS = ['thread', 'log', 'inbox', 'seen', 'round', 'effects', 'files'] as const;
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
  'export',
  'checkpoints',
  'states',
  'quarantined',
  'noted',
  'freezes',
  'frozen',
  'grants',
  'delegations',
  'delegated',
  'manifest',
] as const;
/** Keys of a thread, a day, a channel or a person that few scripts name; the day, the channel or the person takes the place of a thread in them. */
const OTHER_KEYS = ['usage', 'feedback', 'memory', 'digest'] as const;
/** The keys of one server; its name takes the place of a thread in them. */
const SERVER_KEYS = ['connections', 'versions'] as const;
type ServerKey = (typeof SERVER_KEYS)[number];
type ThreadKey = (typeof THREAD_KEYS)[number] | (typeof OTHER_KEYS)[number] | ServerKey;
type ShardKey = (typeof SHARD_KEYS)[number];

/** All keys but those of requests, in the order in which scripts receive them. */
export const KEY_NAMES = [...THREAD_KEYS, ...SHARD_KEYS, ...OTHER_KEYS, ...SERVER_KEYS];
export type KeyName = ThreadKey | ShardKey;

const threadKeys: ReadonlySet<KeyName> = new Set([...THREAD_KEYS, ...OTHER_KEYS, ...SERVER_KEYS]);

function isThreadKey(name: KeyName): boolean {
  return threadKeys.has(name);
}

/** Builds the names of all keys. The keys of one shard share a hash tag, and so one slot of a cluster. */
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

  /** The immutable part of a request, beside its hash, because long texts would unpack the hash. */
  record(requestId: string, shard = shardOf(threadOf(requestId) ?? '')): string {
    return this.#of(shard, 'record', requestId);
  }

  thread(threadId: string): string {
    return this.#of(shardOf(threadId), 'thread', threadId);
  }

  round(threadId: string): string {
    return this.#of(shardOf(threadId), 'round', threadId);
  }

  /** The tokens of one day. */
  usage(day: string, shard: number): string {
    return this.#of(shard, 'usage', day);
  }

  /** The accounts that people have connected at a server, or their versions. */
  connections(server: string, name: ServerKey): string {
    return this.#of(shardOf(server), name, server);
  }

  /** An attempt to connect an account, or a lock; it ends by itself. */
  attempt(id: string): string {
    return this.#of(shardOf(id), 'attempt', id);
  }

  /** The notes about a channel. */
  memory(channel: string): string {
    return this.#of(MEMORY_SHARD, 'memory', channel);
  }

  /** The digest of a person. */
  digest(person: string): string {
    return this.#of(shardOf(person), 'digest', person);
  }

  grant(id: string, shard: number): string {
    return this.#of(shard, 'grant', id);
  }

  /** The actions that count against one limit. */
  limit(key: string, shard: number): string {
    return this.#of(shard, 'limit', key);
  }

  log(threadId: string, shard = shardOf(threadId)): string {
    return this.#of(shard, 'log', threadId);
  }

  inbox(threadId: string): string {
    return this.#of(shardOf(threadId), 'inbox', threadId);
  }

  effects(threadId: string): string {
    return this.#of(shardOf(threadId), 'effects', threadId);
  }

  seen(threadId: string): string {
    return this.#of(shardOf(threadId), 'seen', threadId);
  }

  files(threadId: string): string {
    return this.#of(shardOf(threadId), 'files', threadId);
  }

  /** Builds the named keys of a thread and its shard, in order. */
  named(names: readonly KeyName[], threadId: string, shard: number): string[] {
    const tag = `${this.#prefix}{${shard}}:`;
    return names.map((name) => (isThreadKey(name) ? `${tag}${name}:${threadId}` : tag + name));
  }

  /** Builds all keys of a thread and its shard. */
  forScript(threadId: string, shard = shardOf(threadId)): string[] {
    return this.named(KEY_NAMES, threadId, shard);
  }

  #of(shard: number, name: string, id: string): string {
    return `${this.#prefix}{${shard}}:${name}:${id}`;
  }
}
