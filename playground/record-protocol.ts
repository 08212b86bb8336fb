import type { JsonObject } from './slack/state/types.ts';

/** What the record holds of one thread: `GET /record/<thread id>`; 404 when it holds nothing. */
export interface ThreadRecord {
  readonly threadId: string;
  /** What the thread is doing by the record: nothing, a live turn, or waiting for people. */
  readonly state: 'idle' | 'working' | 'waiting' | 'quarantined';
  /** How many things were said that no turn has read. */
  readonly unread: number;
  /** For `quarantined`: why the record of the thread cannot be read. */
  readonly reason?: string;
  /** The turn that holds the thread; one whose time is up has lost it, as when its process was killed. */
  readonly lease?: { readonly token: string; readonly until: number };
  readonly requests: readonly RecordedRequest[];
  readonly audit: readonly RecordedRow[];
  readonly chain: { readonly rows: number; readonly problems: readonly string[] };
  /** The messages as the model sees them, oldest first. */
  readonly messages: readonly JsonObject[];
  /** Redis's clock when this was read, in milliseconds. */
  readonly now: number;
}

/** One request of the thread, as the record has it and not as a card shows it. */
export interface RecordedRequest {
  readonly id: string;
  readonly kind: 'approval' | 'question' | 'form' | 'callback';
  readonly state: string;
  readonly revision: number;
  readonly tool: string;
  readonly input: unknown;
  readonly requester: string;
  readonly digest: string;
  readonly principals: readonly string[];
  readonly quorum: number;
  readonly votes: readonly { readonly who: string; readonly decision: string; readonly at: number }[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settledAt?: number;
  readonly by?: string;
  /** The answer, the reason or the outcome, by state, as it is kept. */
  readonly payload?: string;
  readonly attempts: number;
  readonly isIdempotent: boolean;
  readonly progress?: string;
  readonly timers: readonly { readonly kind: string; readonly at: number }[];
  /** Where its cards stand. */
  readonly views: readonly JsonObject[];
}

/** One row of the audit log that is about the thread. */
export interface RecordedRow {
  readonly seq: number;
  readonly shard: number;
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  /** What the record itself knows of it, such as `approve U0ALICE 1 of 2`. */
  readonly detail: string;
  readonly body: string;
  readonly hash: string;
  /** The hash of the row before it in the chain, which may be about another thread. */
  readonly previousHash: string;
}
