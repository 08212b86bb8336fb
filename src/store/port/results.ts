import type { RequestRecord } from '../record/request-record.ts';
import type { ClaimedTurn } from './values.ts';

/** There is no such request. */
export type Unknown = { readonly outcome: 'unknown' };
/** The record cannot be read. Nothing was changed, and its thread is quarantined. */
export type Malformed = { readonly outcome: 'malformed' };
/** The request has ended: its final state, and who ended it. */
export type Settled = { readonly outcome: 'settled'; readonly state: string; readonly by: string };

export type EnqueueResult =
  | {
      readonly outcome: 'enqueued';
      readonly waiting: number;
      readonly place: number;
      /** Whether a turn has not ended; it is followed by one that reads the item. */
      readonly busy: boolean;
    }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'unknown-thread' }
  | { readonly outcome: 'invalid-thread' };
export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly turn: ClaimedTurn }
  | { readonly outcome: 'busy'; readonly until: number }
  | { readonly outcome: 'waiting'; readonly requests: number }
  | { readonly outcome: 'quarantined'; readonly reason: string }
  | { readonly outcome: 'idle' }
  | { readonly outcome: 'invalid-thread' };
/** The enqueued item with the claimed turn, if the thread was free; or `waiting`, with nothing enqueued, because requests are open. */
export type EnqueueAndClaimResult =
  | (EnqueueResult & { readonly outcome: 'enqueued'; readonly turn: ClaimedTurn | undefined })
  | Exclude<EnqueueResult, { readonly outcome: 'enqueued' }>
  | { readonly outcome: 'waiting'; readonly requestIds: readonly string[] };
export type RenewLeaseResult = { readonly outcome: 'renewed' | 'stopped' | 'stale' };
export type StoppedRequest = { readonly requestId: string; readonly by: string };
export type SuspendResult =
  | {
      readonly outcome: 'suspended';
      readonly waiting: number;
      /** The number of messages that arrived during the turn. */
      readonly unread: number;
      /** The requests that were withdrawn as they were recorded, because a requester had stopped the turn. */
      readonly withdrawn?: readonly StoppedRequest[];
    }
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'foreign-request' | 'existing-request'; readonly requestId: string }
  | { readonly outcome: 'invalid-request'; readonly requestId: string; readonly problem: string };
export type VoteResult =
  | { readonly outcome: 'voted'; readonly state: string; readonly approvals: number; readonly quorum: number }
  | { readonly outcome: 'already-voted'; readonly decision: string }
  /** Somebody has voted for this person, or this person's delegator has a vote already. */
  | { readonly outcome: 'represented'; readonly by: string }
  | {
      readonly outcome:
        | 'expired'
        | 'not-an-approval'
        | 'not-eligible'
        | 'own-request'
        | 'not-as-shown'
        | 'not-delegated';
    }
  | Settled
  | Unknown
  | Malformed;
export type AnswerResult =
  | { readonly outcome: 'answered' | 'expired' | 'is-an-approval' | 'not-eligible' }
  | Settled
  | Unknown
  | Malformed;
export type WithdrawResult = { readonly outcome: 'withdrawn' | 'not-yours' } | Settled | Unknown | Malformed;
export type ExpireResult = { readonly outcome: 'expired' | 'not-due' } | Settled | Unknown | Malformed;
export type RemindResult =
  | { readonly outcome: 'reminded' | 'postponed' | 'not-due' }
  | Settled
  | Unknown
  | Malformed;
export type EscalateResult =
  | { readonly outcome: 'escalated' | 'not-due' | 'invalid-view' }
  | Settled
  | Unknown
  | Malformed;
export type PurgeResult = { readonly outcome: 'purged' | 'not-due' | 'not-settled' } | Unknown | Malformed;
/** `unknown-outcome`: it was started before, so it did not end, and people are asked. */
export type SupersedeResult =
  | { readonly outcome: 'superseded' | 'unknown-outcome' }
  | Settled
  | Unknown
  | Malformed;
export type StartResult =
  | { readonly outcome: 'started'; readonly tries: number }
  | { readonly outcome: 'superseded' | 'unknown-outcome'; readonly reason: string }
  /** The tool is frozen: the request stays approved, and is tried again later. */
  | { readonly outcome: 'frozen' }
  | { readonly outcome: 'not-approved'; readonly state: string }
  | Settled
  | Unknown
  | Malformed;
/** The result of the vote, and of the start if the vote completed the quorum. */
export type VoteAndStartResult =
  | (VoteResult & { readonly outcome: 'voted'; readonly started: StartResult | undefined })
  | Exclude<VoteResult, { readonly outcome: 'voted' }>;
export type HeartbeatResult =
  | { readonly outcome: 'alive' }
  | { readonly outcome: 'lost'; readonly state: string };
export type FinishResult =
  | { readonly outcome: 'finished'; readonly state: string }
  | { readonly outcome: 'stale'; readonly state: string }
  | Unknown
  | Malformed;
export type ConcludeResult =
  | { readonly outcome: 'concluded'; readonly state: string }
  | { readonly outcome: 'stale' }
  | Settled
  | Unknown
  | Malformed;
/** The result of the finish, and the claimed turn if no other request of the round is open. */
export type FinishAndClaimResult =
  | (FinishResult & { readonly outcome: 'finished'; readonly turn: ClaimedTurn | undefined })
  | Exclude<FinishResult, { readonly outcome: 'finished' }>;
export type RecoverResult =
  | { readonly outcome: 'retry'; readonly tries: number }
  | { readonly outcome: 'unknown-outcome' | 'still-unknown' | 'not-due' }
  | Settled
  | Unknown
  | Malformed;
export type AskResolversResult =
  | { readonly outcome: 'asked' | 'changed' | 'not-due' | 'invalid-view' }
  | Settled
  | Unknown
  | Malformed;
export type AbandonResult = { readonly outcome: 'abandoned' } | Settled | Unknown | Malformed;
export type AddViewsResult =
  | { readonly outcome: 'added'; readonly views: number }
  | { readonly outcome: 'invalid-view' }
  | Settled
  | Unknown
  | Malformed;
export type RedrawResult = { readonly outcome: 'redrawn' } | Settled | Unknown | Malformed;
export type ResolveResult =
  | { readonly outcome: 'resolved'; readonly state: string }
  | { readonly outcome: 'not-unknown'; readonly state: string }
  | { readonly outcome: 'not-eligible' | 'not-as-shown' | 'own-request' }
  | Settled
  | Unknown
  | Malformed;
export type LoadResult =
  | { readonly outcome: 'found'; readonly request: RequestRecord }
  | { readonly outcome: 'malformed'; readonly problem: string }
  | Unknown;

export type NoteUndoResult = { readonly outcome: 'noted' | 'not-due' } | Settled | Unknown | Malformed;
