import type { JsonObject } from './slack/state/types.ts';

/** The record of one thread: `GET /record/<thread id>`; 404 when there is none. */
export interface ThreadRecord {
  readonly threadId: string;
  /** State of the thread: nothing to do, a live turn, waiting for people, or quarantined. */
  readonly state: 'idle' | 'working' | 'waiting' | 'quarantined';
  /** Number of messages that no turn has read. */
  readonly unread: number;
  /** For `quarantined`: the reason. */
  readonly reason?: string;
  /** Lease of the turn that owns the thread; an expired lease is lost, as after a kill. */
  readonly lease?: { readonly token: string; readonly until: number };
  readonly requests: readonly RecordedRequest[];
  readonly audit: readonly RecordedRow[];
  readonly chain: { readonly rows: number; readonly problems: readonly string[] };
  /** The messages as the model sees them, oldest first. */
  readonly messages: readonly JsonObject[];
  /** Redis's clock when this was read, in milliseconds. */
  readonly now: number;
}

/** A place of a request's card, and the posted message once there is one. */
export interface RecordedView {
  readonly id: string;
  readonly place: JsonObject;
  readonly postedAt?: JsonObject | undefined;
  /** The revision that the card shows. */
  readonly drawn: number;
}

/** One request as stored in the record, not as shown on a card. */
export interface RecordedRequest {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly revision: number;
  readonly tool: string;
  readonly input: unknown;
  readonly requester: string;
  readonly digest: string;
  readonly principals: readonly string[];
  readonly quorum: number;
  readonly votes: readonly {
    readonly who: string;
    readonly decision: string;
    readonly at: number;
    /** The signature of the person's passkey. */
    readonly proof?: unknown;
  }[];
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
  /** Locations of its cards. */
  readonly views: readonly RecordedView[];
}

/** One row of the audit log that is about the thread. */
export interface RecordedRow {
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  /** Detail written by the record, such as `approve U0ALICE 1 of 2`. */
  readonly detail: string;
  readonly body: string;
  readonly hash: string;
  /** The hash of the row before it in the chain, which may be about another thread. */
  readonly previousHash: string;
}
