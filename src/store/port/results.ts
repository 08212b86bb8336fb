import type { RequestRecord } from './request-record.ts';
import type { ClaimedTurn } from './values.ts';
import type { OverLimit, Ungranted } from './workspace.ts';

/** There is no such request. */
export type Unknown = { readonly outcome: 'unknown' };
/** The record cannot be read. Nothing was changed, and its thread is quarantined. */
export type Malformed = { readonly outcome: 'malformed' };
/** The request has ended: its final state, and who ended it. */
export type Settled = { readonly outcome: 'settled'; readonly state: string; readonly by: string };

/** The stop that came with an item: the turn that it stops, if one has not ended, and when. */
export type RecordedStop = { readonly token: string | undefined; readonly at: number };
export type EnqueueResult =
  | {
      readonly outcome: 'enqueued';
      readonly waiting: number;
      readonly place: number;
      /** Whether a turn has not ended; it is followed by one that reads the item. */
      readonly busy: boolean;
      readonly stop?: RecordedStop;
      /** The claimed turn, if one was asked for and the thread was free. */
      readonly turn?: ClaimedTurn | undefined;
    }
  /** A turn was asked for and requests are open: nothing was added. */
  | { readonly outcome: 'waiting'; readonly requestIds: readonly string[] }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'unknown-thread' }
  | { readonly outcome: 'invalid-thread' };
export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly turn: ClaimedTurn }
  /** Too many claims in a row ended with their processes; the token is that of the last. */
  | { readonly outcome: 'died'; readonly token: string }
  /** Another turn of the thread runs, or, if the thread is suspected of ending its processes, another such thread. */
  | { readonly outcome: 'busy'; readonly until: number }
  | { readonly outcome: 'waiting'; readonly requests: number }
  | { readonly outcome: 'quarantined'; readonly reason: string }
  | { readonly outcome: 'idle' }
  | { readonly outcome: 'invalid-thread' };
/** `held` is renewed too, and no model may be called. */
export type RenewLeaseResult = { readonly outcome: 'renewed' | 'held' | 'stopped' | 'stale' };
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
  | {
      readonly outcome: 'voted';
      readonly state: string;
      readonly approvals: number;
      readonly quorum: number;
      /** The start, if it was tried. */
      readonly started?: StartResult;
    }
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
        | 'not-delegated'
        /** The person has approved as much as the policy allows for now. */
        | 'too-many'
        /** A passkey has to sign. */
        | 'not-proven'
        /** The proof counts no more: its link was used or is over, or the keys of the person changed meanwhile. */
        | 'link-used'
        | 'keys-changed';
    }
  | Settled
  | Unknown
  | Malformed;
export type AnswerResult =
  | { readonly outcome: 'answered' | 'expired' | 'is-an-approval' | 'not-eligible' | 'own-request' }
  | Settled
  | Unknown
  | Malformed;
/** `unknown-outcome`: it was started before, so it did not end, and people are asked. */
export type EndResult =
  | { readonly outcome: 'ended' | 'unknown-outcome' | 'not-due' | 'not-yours' }
  | Settled
  | Unknown
  | Malformed;
export type NotifyResult =
  | { readonly outcome: 'sent' | 'postponed' | 'changed' | 'not-due' | 'invalid-view' }
  | Settled
  | Unknown
  | Malformed;
export type PurgeResult = { readonly outcome: 'purged' | 'not-due' | 'not-settled' } | Unknown | Malformed;
export type StartResult =
  | { readonly outcome: 'started'; readonly tries: number }
  | { readonly outcome: 'superseded' | 'unknown-outcome'; readonly reason: string }
  /** The tool is frozen: the request stays approved, and is tried again later. */
  | { readonly outcome: 'frozen' }
  /** Its caller runs it itself, and has not started it. */
  | { readonly outcome: 'elsewhere' }
  | { readonly outcome: 'not-approved'; readonly state: string }
  /** It is a step of a plan, and its turn has not come. */
  | { readonly outcome: 'not-next' }
  /** It stays approved, and is due. */
  | OverLimit
  | Settled
  | Unknown
  | Malformed;
/** The start of a call in a turn; `used` counts the uses of its grant. */
export type StartEffectResult =
  | { readonly outcome: 'started'; readonly used: number }
  | { readonly outcome: 'stale' | 'finished' | 'frozen' | 'stopped' }
  | Ungranted
  | OverLimit;
export type CountCallResult = { readonly outcome: 'counted'; readonly used: number } | Ungranted | OverLimit;
export type HeartbeatResult =
  | { readonly outcome: 'alive' }
  | { readonly outcome: 'lost'; readonly state: string };
export type FinishResult =
  | { readonly outcome: 'finished'; readonly state: string; readonly turn?: ClaimedTurn | undefined }
  | { readonly outcome: 'stale'; readonly state: string }
  | Settled
  | Unknown
  | Malformed;
export type RecoverResult =
  | { readonly outcome: 'retry'; readonly tries: number }
  | { readonly outcome: 'unknown-outcome' | 'still-unknown' | 'not-due' }
  | Settled
  | Unknown
  | Malformed;
export type RedrawResult =
  | { readonly outcome: 'redrawn'; readonly added: number }
  | { readonly outcome: 'invalid-view' }
  | Settled
  | Unknown
  | Malformed;
export type ResolveResult =
  | { readonly outcome: 'resolved'; readonly state: string }
  | { readonly outcome: 'not-unknown'; readonly state: string }
  | { readonly outcome: 'not-eligible' | 'not-as-shown' | 'own-request' }
  | Settled
  | Unknown
  | Malformed;
/** `not-due`: somebody has seen to the end of the one that it was to take the place of. */
export type OpenResult =
  | { readonly outcome: 'opened' | 'not-due' }
  | { readonly outcome: 'invalid-request'; readonly requestId: string; readonly problem: string };
export type LoadResult =
  | { readonly outcome: 'found'; readonly request: RequestRecord }
  | { readonly outcome: 'malformed'; readonly problem: string }
  | Unknown;

export type NoteUndoResult = { readonly outcome: 'noted' | 'not-due' } | Settled | Unknown | Malformed;

export type DoneResult = 'done' | 'due-again' | 'due-later' | 'stale';
