import type { Message } from '../agent/messages.ts';
import type { TakenTurn } from './port.ts';
import type { RequestRecord } from './request-record.ts';

/** There is no such request. */
export type Unknown = { readonly outcome: 'unknown' };
/** The record cannot be read: nothing was changed, and its thread is set aside. */
export type Malformed = { readonly outcome: 'malformed' };
/** The answer to whoever comes too late: what it is now, and who made it so. */
type Settled = { readonly outcome: 'settled'; readonly state: string; readonly by: string };

export type PutResult =
  | {
      readonly outcome: 'put';
      readonly waiting: number;
      readonly place: number;
      /** Whether a turn is going on, after which the item is read. */
      readonly busy: boolean;
    }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'unknown-thread' }
  | { readonly outcome: 'invalid-thread' };
export type TakeResult =
  | { readonly outcome: 'taken'; readonly turn: TakenTurn }
  | { readonly outcome: 'busy'; readonly until: number }
  | { readonly outcome: 'waiting'; readonly requests: number }
  | { readonly outcome: 'quarantined'; readonly reason: string }
  | { readonly outcome: 'idle' }
  | { readonly outcome: 'invalid-thread' };
/** What was put, and the turn that reads it where nothing stood in its way; or that nothing was put, since requests wait. */
export type PutAndTakeResult =
  | (PutResult & { readonly outcome: 'put'; readonly turn: TakenTurn | undefined })
  | Exclude<PutResult, { readonly outcome: 'put' }>
  | { readonly outcome: 'waiting'; readonly requestIds: readonly string[] };
export type RenewResult = { readonly outcome: 'renewed' | 'stopped' | 'stale' };
export type SuspendResult =
  | { readonly outcome: 'suspended'; readonly waiting: number }
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'foreign-request' | 'existing-request'; readonly requestId: string }
  | { readonly outcome: 'invalid-request'; readonly requestId: string; readonly problem: string };
export type VoteResult =
  | { readonly outcome: 'voted'; readonly state: string; readonly approvals: number; readonly quorum: number }
  | { readonly outcome: 'already-voted'; readonly decision: string }
  | { readonly outcome: 'expired' | 'not-an-approval' | 'not-eligible' | 'own-request' | 'not-as-shown' }
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
export type RemindResult = { readonly outcome: 'reminded' | 'not-due' } | Settled | Unknown | Malformed;
export type EscalateResult = { readonly outcome: 'escalated' | 'not-due' } | Settled | Unknown | Malformed;
export type SupersedeResult = { readonly outcome: 'superseded' } | Settled | Unknown | Malformed;
export type StartResult =
  | { readonly outcome: 'started'; readonly tries: number }
  | { readonly outcome: 'superseded'; readonly reason: string }
  | { readonly outcome: 'not-approved'; readonly state: string }
  | Settled
  | Unknown
  | Malformed;
/** What became of the vote, and of the start where the vote was the last that was needed. */
export type VoteAndStartResult =
  | (VoteResult & { readonly outcome: 'voted'; readonly started: StartResult | undefined })
  | Exclude<VoteResult, { readonly outcome: 'voted' }>;
/** What of a request an action needs to run. */
export type SignedRequest = Pick<
  RequestRecord,
  'id' | 'threadId' | 'requester' | 'digest' | 'details' | 'by'
>;
/** It was signed and started by this; or more has to be known, and nothing has changed. */
export type SignResult =
  | {
      readonly outcome: 'signed';
      readonly request: SignedRequest;
      /** The thread's messages as they were then, where its next turn is about nothing but this request; what cannot be read throws. */
      readonly history: (() => readonly Message[] | undefined) | undefined;
    }
  | { readonly outcome: 'look'; readonly loaded: LoadResult };
export type BeatResult =
  | { readonly outcome: 'beaten' }
  | { readonly outcome: 'lost'; readonly state: string };
export type FinishResult =
  | { readonly outcome: 'finished'; readonly state: string }
  | { readonly outcome: 'stale'; readonly state: string }
  | Unknown
  | Malformed;
/** What became of the outcome, and the turn that reads it where nothing else of its round waits. */
export type FinishAndTakeResult =
  | (FinishResult & { readonly outcome: 'finished'; readonly turn: TakenTurn | undefined })
  | Exclude<FinishResult, { readonly outcome: 'finished' }>;
export type RecoverResult =
  | { readonly outcome: 'retry'; readonly tries: number }
  | { readonly outcome: 'unknown-outcome' | 'not-due' }
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
export type ResolveResult =
  | { readonly outcome: 'resolved'; readonly state: string }
  | { readonly outcome: 'not-unknown'; readonly state: string }
  | { readonly outcome: 'not-eligible' | 'not-as-shown' }
  | Settled
  | Unknown
  | Malformed;
export type LoadResult =
  | { readonly outcome: 'found'; readonly request: RequestRecord }
  | { readonly outcome: 'malformed'; readonly problem: string }
  | Unknown;
