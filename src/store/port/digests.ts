import type { JsonObject } from '../../agent/json.ts';
import type { OutboxItem } from './values.ts';

/** A request on a digest. */
export interface DigestEntry {
  readonly requestId: string;
  /** The revision of the digest with which it came. */
  readonly since: number;
}

/** The digest of a person: one message about several requests, in place of a card of each. */
export interface Digest {
  readonly revision: number;
  /** The oldest first. */
  readonly entries: readonly DigestEntry[];
  /** The number of messages so far; each has its own mark. */
  readonly number: number;
  /** The place of the last message, as the sender stored it. */
  readonly place: JsonObject | undefined;
  /** When the last message was posted, and the revision that it told of. */
  readonly postedAt: number;
  readonly postedRevision: number;
}

/** A request as a digest knows it. */
export interface Listed {
  readonly id: string;
  readonly revision: number;
}

export interface CardLimit {
  /** The most cards of their own in a window. */
  readonly after: number;
  readonly withinMs: number;
}

export interface DrawnDigest {
  readonly revision: number;
  readonly place: JsonObject;
  readonly number: number;
  /** Requests that do not wait for the person any more. */
  readonly gone: readonly string[];
  /** When it is due once more; 0 for never. */
  readonly againMs: number;
}

/** The digests of people. A digest that has changed is an item of the outbox. */
export interface DigestStore {
  /** Says how a person learns of a request: by a card of its own or, after so many in a window, by the digest; the same request gets the same answer. */
  tell(
    person: string,
    request: Listed,
    limit: CardLimit,
    delayMs: number,
  ): Promise<{ readonly outcome: 'card' | 'listed' }>;
  /** Puts a request onto a person's digest, or notes that it has changed there. */
  listInDigest(person: string, request: Listed, delayMs: number): Promise<{ readonly outcome: 'listed' }>;
  readDigest(person: string): Promise<Digest>;
  doneDigest(
    item: OutboxItem & { kind: 'digest' },
    drawn: DrawnDigest,
  ): Promise<'done' | 'due-again' | 'due-later' | 'stale'>;
}
