import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import type { NewRequest, NewView, SettledState } from '../record/request-record.ts';
import type { AuditStore } from './audit.ts';
import type {
  AbandonResult,
  AddViewsResult,
  AnswerResult,
  ClaimResult,
  EnqueueAndClaimResult,
  EnqueueResult,
  EscalateResult,
  ExpireResult,
  FinishAndClaimResult,
  FinishResult,
  HeartbeatResult,
  LoadResult,
  PurgeResult,
  RecoverResult,
  RemindResult,
  RenewLeaseResult,
  ResolveResult,
  StartResult,
  SupersedeResult,
  SuspendResult,
  VoteAndStartResult,
  VoteResult,
  WithdrawResult,
} from './results.ts';

export { requestIdOf, threadOf } from '../record/keys.ts';
export type { NewRequest, PolicySnapshot, RequestRecord } from '../record/request-record.ts';
export type * from './results.ts';

/** A message of a person that no turn has read yet. Its id is the same for every copy of the message. */
export interface InboxItem {
  readonly id: string;
  readonly body: JsonObject;
}

export interface EnqueueOptions {
  /** Adds the item only if the thread exists. */
  readonly onlyKnown?: boolean;
  /** The body to store instead if a turn runs or something waits in the thread. */
  readonly bodyAtWork?: JsonObject;
}

/** The end of a request that an earlier turn left open. */
export interface Settlement {
  readonly requestId: string;
  readonly state: SettledState;
  readonly by: string;
  readonly payload: string;
}

/** A claimed turn: the fencing token that its writes carry, and everything that it has to read. */
export interface ClaimedTurn {
  readonly threadId: string;
  readonly token: string;
  readonly messages: readonly Message[];
  readonly inbox: readonly InboxItem[];
  readonly settled: readonly Settlement[];
}

/** A message that has to be sent to Slack. */
export interface OutboxRow {
  readonly id: string;
  readonly body: JsonObject;
}

/** Everything that a turn adds to its thread. */
export interface TurnEnd {
  readonly messages: readonly Message[];
  /** The number of inbox items that the turn has read. */
  readonly read: number;
  readonly requests?: readonly NewRequest[];
  readonly rows?: readonly OutboxRow[];
}

/** A person who decides, with the evidence of their eligibility. The audit log keeps both as they are. */
export interface Actor {
  readonly who: string;
  readonly eligible: boolean;
  /** Includes an id of the click, so that two clicks are two rows. */
  readonly evidence: JsonObject;
}

export interface Vote extends Actor {
  readonly decision: 'approve' | 'reject';
  /** The digest of what the person was shown. */
  readonly shown: string;
  readonly reason?: string;
}

/** One attempt to run an approved action. */
export interface Attempt {
  readonly attempt: string;
  readonly digest: string;
  /** The attempt is given up when it has sent no heartbeat for this long. */
  readonly heartbeatTimeoutMs: number;
  /** The people whose approval still counts. */
  readonly stillEligible: readonly string[];
  readonly evidence: JsonObject;
}

export interface Outcome {
  readonly attempt: string;
  readonly state: 'succeeded' | 'failed';
  /** The result for the model. */
  readonly message: Message;
  /** The result for people. */
  readonly summary: JsonValue;
}

export type Verdict = 'ran' | 'did-not-run' | 'run-again';

export interface Page {
  readonly requestIds: readonly string[];
  /** The start of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

export interface PageOptions {
  readonly limit: number;
  readonly from?: string | undefined;
}

/** Work that is due in one shard. */
export interface DueWork {
  readonly threads: readonly string[];
  readonly runs: readonly string[];
  readonly timers: readonly { readonly kind: TimerKind; readonly id: string }[];
  readonly hasOutbox: boolean;
}
export type TimerKind = 'expire' | 'remind' | 'escalate' | 'recover' | 'purge' | 'retire';

/** An outbox item that one sender has claimed: a row to send, or a card of a request to draw. */
export type OutboxItem = {
  readonly item: string;
  readonly owner: string;
  readonly shard: number;
  /** The number of failed attempts to send it. */
  readonly tries: number;
} & (
  | { readonly kind: 'row'; readonly rowId: string; readonly body: JsonObject }
  | { readonly kind: 'view'; readonly requestId: string; readonly viewId: string }
);

/**
 * The record of requests, votes and runs. Each verb is one atomic step and safe to send twice. A wrong id, a wrong state and a lost
 * race are return values that change nothing; only an outage throws.
 */
export interface Store extends AuditStore {
  /** Adds a message to a thread's inbox, once. */
  enqueue(threadId: string, item: InboxItem, options?: EnqueueOptions): Promise<EnqueueResult>;
  claimTurn(threadId: string, leaseMs: number): Promise<ClaimResult>;
  /** `enqueue` and `claimTurn` in one step; does nothing while the thread has open requests. */
  enqueueAndClaim(
    threadId: string,
    item: InboxItem,
    options: EnqueueOptions & { readonly leaseMs: number },
  ): Promise<EnqueueAndClaimResult>;
  renewLease(turn: ClaimedTurn, leaseMs: number): Promise<RenewLeaseResult>;
  /** Asks the running turn of a thread to stop, in whichever process it runs. */
  stop(threadId: string): Promise<{ readonly outcome: 'stopping' | 'idle' }>;
  /** Lists the open requests of a thread's latest round. */
  waitingIn(threadId: string): Promise<readonly string[]>;
  /** Ends a turn. With requests the thread waits for them; without, the next message starts a turn. */
  suspend(turn: ClaimedTurn, end: TurnEnd): Promise<SuspendResult>;

  load(requestId: string): Promise<LoadResult>;
  vote(requestId: string, vote: Vote): Promise<VoteResult>;
  /** `vote` and, if it completes the quorum, `start` in one step. */
  voteAndStart(requestId: string, vote: Vote, attempt: Attempt): Promise<VoteAndStartResult>;
  answer(requestId: string, actor: Actor, value: JsonValue): Promise<AnswerResult>;
  withdraw(requestId: string, actor: Omit<Actor, 'eligible'>, reason: string): Promise<WithdrawResult>;
  supersede(requestId: string, reason: string): Promise<SupersedeResult>;
  start(requestId: string, attempt: Attempt): Promise<StartResult>;
  heartbeat(
    requestId: string,
    attempt: string,
    heartbeatTimeoutMs: number,
    progress?: string,
  ): Promise<HeartbeatResult>;
  finish(requestId: string, outcome: Outcome): Promise<FinishResult>;
  /** `finish` and, if no other request of the round is open, `claimTurn` in one step. */
  finishAndClaim(requestId: string, outcome: Outcome, leaseMs: number): Promise<FinishAndClaimResult>;
  /** Ends a request whose card cannot be shown to anybody. */
  abandon(requestId: string, reason: string): Promise<AbandonResult>;
  addViews(requestId: string, views: readonly NewView[]): Promise<AddViewsResult>;
  /** Records the outcome of an action whose outcome is unknown. With `tries`, a verdict on an earlier attempt is refused. */
  resolve(
    requestId: string,
    actor: Actor,
    verdict: Verdict,
    reason: string,
    tries?: number,
  ): Promise<ResolveResult>;

  expire(requestId: string): Promise<ExpireResult>;
  remind(requestId: string, row: OutboxRow): Promise<RemindResult>;
  escalate(requestId: string, row: OutboxRow): Promise<EscalateResult>;
  recover(requestId: string): Promise<RecoverResult>;
  purge(requestId: string): Promise<PurgeResult>;
  retire(threadId: string): Promise<{ readonly outcome: 'retired' | 'not-due' | 'in-use' }>;

  enqueueOutbox(threadId: string, row: OutboxRow): Promise<void>;
  claimOutbox(
    shard: number,
    options: { readonly leaseMs: number; readonly limit: number },
  ): Promise<OutboxItem[]>;
  doneRow(item: OutboxItem & { kind: 'row' }): Promise<'done' | 'stale'>;
  doneView(
    item: OutboxItem & { kind: 'view' },
    revision: number,
    postedAt: JsonObject,
  ): Promise<'done' | 'due-again' | 'stale'>;
  retryOutbox(item: OutboxItem, delayMs: number): Promise<'later' | 'stale'>;

  /** Lists requests that wait for any of these people and groups, newest first. */
  listWaiting(people: readonly string[], page: PageOptions): Promise<Page>;
  listAsked(person: string, page: PageOptions): Promise<Page>;
  listDecided(person: string, page: PageOptions): Promise<Page>;
  /** Counts a person's undecided requests over all threads, among the newest 32 of each shard. */
  countPending(requester: string): Promise<number>;
  /** Finds work that has been due in a shard for `overdueMs`, by Redis's clock. */
  due(shard: number, options: { readonly overdueMs: number; readonly limit: number }): Promise<DueWork>;
  close(): Promise<void>;
}
