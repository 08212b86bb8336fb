import { hash } from 'node:crypto';

/** The prefix of all keys of an installation, unless another is configured. */
export const DEFAULT_PREFIX = 'countersign';

const THREAD_ID = /^[A-Za-z0-9:._-]{1,200}$/;
const REQUEST_ID = /^([A-Za-z0-9:._-]{1,200})~([A-Za-z0-9_-]{1,64})$/;
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

/** Returns the id of the interrupt that a request is about; '' for a malformed id. */
export function interruptOf(requestId: string): string {
  return REQUEST_ID.exec(requestId)?.[2] ?? '';
}

/** Builds the id of the Run of a call in a turn; no Ask has it. */
export function runIdOf(threadId: string, ref: string): string {
  const name = /^[A-Za-z0-9_-]{1,60}$/.test(ref) ? ref : hash('sha256', ref).slice(0, 40);
  return `${threadId}~run_${name}`;
}

/** Tells whether an id is that of the Run of a call in a turn. */
export function isCallInTurn(runId: string): boolean {
  return runId.includes('~run_');
}

/** Returns the thread of a request, or `undefined` for a malformed id. */
export function threadOf(requestId: string): string | undefined {
  return REQUEST_ID.exec(requestId)?.[1];
}

/** Builds what every key of a workspace begins with. The hash tag keeps them in one slot of a cluster; another prefix is another slot. */
export function keyStart(prefix: string): string {
  return `{${prefix}}:`;
}

const THREAD_KEYS = ['thread', 'log', 'inbox', 'seen', 'round', 'files'] as const;
const SHARED_KEYS = [
  'timers',
  'outbox',
  'rows',
  'audit',
  'head',
  'waiting',
  'asked',
  'decided',
  'sent',
  'checkpoints',
  'states',
  'quarantined',
  'freezes',
  'grants',
  'documents',
  // The start of the keys of documents, of limits, and of what actions count.
  'document',
  'limit',
  'counted',
] as const;
/** Keys of a day or a person that few scripts name; that takes the place of a thread in them. */
const OTHER_KEYS = ['usage', 'summary'] as const;
type ThreadKey = (typeof THREAD_KEYS)[number] | (typeof OTHER_KEYS)[number];
type SharedKey = (typeof SHARED_KEYS)[number];

/** All keys but those of requests, in the order in which scripts receive them. */
export const KEY_NAMES = [...THREAD_KEYS, ...SHARED_KEYS, ...OTHER_KEYS];
export type KeyName = ThreadKey | SharedKey;

const threadKeys: ReadonlySet<KeyName> = new Set([...THREAD_KEYS, ...OTHER_KEYS]);

function isThreadKey(name: KeyName): boolean {
  return threadKeys.has(name);
}

/** Builds the names of all keys of a workspace. */
export class Keys {
  readonly #start: string;

  constructor(prefix: string) {
    this.#start = keyStart(prefix);
  }

  /** A key that the whole workspace shares. */
  shared(name: SharedKey): string {
    return this.#start + name;
  }

  /** What people are asked. */
  ask(askId: string): string {
    return this.#of('ask', askId);
  }

  /** One call of one tool. */
  run(runId: string): string {
    return this.#of('run', runId);
  }

  /** The immutable part of an Ask, beside its hash, because long texts would unpack the hash. */
  record(requestId: string): string {
    return this.#of('record', requestId);
  }

  thread(threadId: string): string {
    return this.#of('thread', threadId);
  }

  round(threadId: string): string {
    return this.#of('round', threadId);
  }

  /** The tokens of one day. */
  usage(day: string): string {
    return this.#of('usage', day);
  }

  /** A document, by its group and id. */
  document(name: string): string {
    return this.#of('document', name);
  }

  /** The summary of a person. */
  summary(person: string): string {
    return this.#of('summary', person);
  }

  log(threadId: string): string {
    return this.#of('log', threadId);
  }

  inbox(threadId: string): string {
    return this.#of('inbox', threadId);
  }

  seen(threadId: string): string {
    return this.#of('seen', threadId);
  }

  files(threadId: string): string {
    return this.#of('files', threadId);
  }

  /** Builds the named keys, those of a thread and those of the workspace, in order. */
  named(names: readonly KeyName[], threadId: string): string[] {
    return names.map((name) => (isThreadKey(name) ? this.#of(name, threadId) : this.#start + name));
  }

  /** Builds all keys of a thread and of the workspace. */
  forScript(threadId: string): string[] {
    return this.named(KEY_NAMES, threadId);
  }

  #of(name: string, id: string): string {
    return `${this.#start}${name}:${id}`;
  }
}
