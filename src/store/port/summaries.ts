import type { JsonObject } from '../../agent/json.ts';

/** A request on a summary. */
export interface SummaryEntry {
  readonly requestId: string;
  /** The revision of the summary with which it came. */
  readonly since: number;
}

/** The summary of a person: one message about several requests, in place of a card of each. */
export interface Summary {
  readonly revision: number;
  /** The oldest first. */
  readonly entries: readonly SummaryEntry[];
  /** The number of messages so far; each has its own mark. */
  readonly number: number;
  /** The place of the last message, as the sender stored it. */
  readonly place: JsonObject | undefined;
  /** When the last message was posted, and the revision that it told of. */
  readonly postedAt: number;
  readonly postedRevision: number;
}

/** A request as a summary knows it. */
export interface Listed {
  readonly id: string;
  readonly revision: number;
}

export interface CardLimit {
  /** The most cards of their own in a window. */
  readonly after: number;
  readonly withinMs: number;
}

/** The summaries of people. A summary that has changed is an item of the outbox. */
export interface SummaryStore {
  /**
   * Says how a person learns of a request: by a card of its own or, after so many in a window or without a limit, by the summary, which is
   * drawn after a delay. The same request gets the same answer; a change of one on the summary is noted.
   */
  tell(
    person: string,
    request: Listed,
    delayMs: number,
    limit?: CardLimit,
  ): Promise<{ readonly outcome: 'card' | 'listed' }>;
  readSummary(person: string): Promise<Summary>;
}
