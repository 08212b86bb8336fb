import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { NewView, UndoNote, UndoStep } from '../record/request-record.ts';
import type { AuditStore } from './audit.ts';
import type { ConnectionStore } from './connections.ts';
import type { DelegationStore } from './delegations.ts';
import type { DigestStore } from './digests.ts';
import type { FreezeStore } from './freezes.ts';
import type { GrantStore } from './grants.ts';
import type { LimitStore } from './limits.ts';
import type { ManifestStore } from './manifest.ts';
import type { MemoryStore } from './memory.ts';
import type {
  AbandonResult,
  AddViewsResult,
  AnswerResult,
  AskResolversResult,
  ClaimResult,
  ConcludeResult,
  EnqueueAndClaimResult,
  EnqueueResult,
  EscalateResult,
  ExpireResult,
  FinishAndClaimResult,
  FinishResult,
  HeartbeatResult,
  LoadResult,
  NoteUndoResult,
  PurgeResult,
  RecoverResult,
  RedrawResult,
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
import type { UsageStore } from './usage.ts';
import type {
  Actor,
  Attempt,
  ClaimedTurn,
  Conclusion,
  DueWork,
  EffectFinish,
  EffectStart,
  EnqueueOptions,
  InboxItem,
  KeptFile,
  Measures,
  OutboxItem,
  OutboxRow,
  Outcome,
  Page,
  PageOptions,
  QuarantinedThread,
  ThreadSnapshot,
  TurnEnd,
  TurnFailure,
  Verdict,
  Vote,
  Withdrawer,
} from './values.ts';

export { requestIdOf, SHARDS, threadOf } from '../record/keys.ts';
export type { NewRequest, NewView, PolicySnapshot, RequestRecord } from '../record/request-record.ts';
export type * from './delegations.ts';
export type * from './digests.ts';
export type * from './freezes.ts';
export type * from './grants.ts';
export type * from './limits.ts';
export type * from './results.ts';
export type * from './values.ts';

/**
 * The record of requests, votes and runs. Each verb is one atomic step and safe to send twice. A wrong id, a wrong state and a lost
 * race are return values that change nothing; only an outage throws.
 */
export interface Store
  extends AuditStore,
    ConnectionStore,
    DelegationStore,
    DigestStore,
    FreezeStore,
    GrantStore,
    LimitStore,
    ManifestStore,
    MemoryStore,
    UsageStore {
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
  /** Gives a turn back, so that another process continues it at once. */
  release(turn: ClaimedTurn): Promise<{ readonly outcome: 'released' | 'stale' }>;
  /** Counts a turn that failed. It is tried again later; after too many failures in a row its thread is quarantined. */
  failTurn(
    turn: ClaimedTurn,
    failure: TurnFailure,
  ): Promise<{ readonly outcome: 'failed' | 'quarantined' | 'stale' }>;
  /** Lets a quarantined thread continue. */
  unquarantine(
    threadId: string,
    evidence: JsonObject,
  ): Promise<{ readonly outcome: 'unquarantined' | 'not-quarantined' }>;
  /** Lists all quarantined threads, oldest first. */
  listQuarantined(): Promise<readonly QuarantinedThread[]>;
  /** Records that a call is about to take effect, and logs the messages that made it. */
  startEffect(
    turn: ClaimedTurn,
    start: EffectStart,
  ): Promise<{ readonly outcome: 'started' | 'stale' | 'finished' | 'frozen' | 'stopped' }>;
  finishEffect(turn: ClaimedTurn, finish: EffectFinish): Promise<{ readonly outcome: 'finished' | 'stale' }>;
  /**
   * Asks the running turn of a thread to stop, in whichever process it runs or is continued. It starts no further effect, and `suspend`
   * withdraws what it asks people for in this person's name. With the id of an unread message, only a turn that was not given it is
   * stopped, and no later one.
   */
  stop(
    threadId: string,
    stopper: Omit<Actor, 'eligible'>,
    unread?: string,
  ): Promise<{ readonly outcome: 'stopping' | 'idle' }>;
  /** Lists the open requests of a thread's latest round. */
  waitingIn(threadId: string): Promise<readonly string[]>;
  /** Reads a thread beside its turns. Nothing is claimed, so that it may have changed when it arrives. */
  readThread(threadId: string): Promise<ThreadSnapshot>;
  /** Ends a turn. With requests the thread waits for them; without, the next message starts a turn. */
  suspend(turn: ClaimedTurn, end: TurnEnd): Promise<SuspendResult>;

  /** Keeps a file as long as its thread, once; a thread that is full or gone keeps none. */
  keepFile(
    threadId: string,
    file: KeptFile,
  ): Promise<{ readonly outcome: 'kept' | 'unknown-thread' | 'full' }>;
  /** Reads files that a thread keeps, in this order; one that it does not keep is left out. */
  readFiles(threadId: string, ids: readonly string[]): Promise<readonly KeptFile[]>;
  /** Removes a file that its thread does not need any more. */
  dropFile(threadId: string, id: string): Promise<void>;

  load(requestId: string): Promise<LoadResult>;
  vote(requestId: string, vote: Vote): Promise<VoteResult>;
  /** `vote` and, if it completes the quorum, `start` in one step. */
  voteAndStart(requestId: string, vote: Vote, attempt: Attempt): Promise<VoteAndStartResult>;
  answer(requestId: string, actor: Actor, value: JsonValue): Promise<AnswerResult>;
  /** Ends a request that has not started; only a requester may, or an operator at a terminal. */
  withdraw(requestId: string, actor: Withdrawer, reason: string): Promise<WithdrawResult>;
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
  /** Says how an action goes on that paused while it ran; only the turn that has its thread may. */
  conclude(turn: ClaimedTurn, requestId: string, conclusion: Conclusion): Promise<ConcludeResult>;
  /** Ends a request whose card cannot be shown to anybody. */
  abandon(requestId: string, reason: string): Promise<AbandonResult>;
  addViews(requestId: string, views: readonly NewView[]): Promise<AddViewsResult>;
  /** Makes the cards of an open request, or of one with a grant, due: something beside it has changed that they show; once for each cause. */
  redraw(requestId: string, cause: string): Promise<RedrawResult>;
  /** Records the outcome of an action whose outcome is unknown. With `tries`, a verdict on an earlier attempt is refused. */
  resolve(
    requestId: string,
    actor: Actor,
    verdict: Verdict,
    reason: string,
    tries?: number,
  ): Promise<ResolveResult>;

  /** Offers to undo an action for so long after its success. The request that undoes is one of its own. */
  offerUndo(requestId: string, withinMs: number): Promise<NoteUndoResult>;
  /** Records a step of the undo and redraws the cards of the action; a step that is behind changes nothing. */
  noteUndo(requestId: string, step: Exclude<UndoStep, 'offered'>, note?: UndoNote): Promise<NoteUndoResult>;

  expire(requestId: string): Promise<ExpireResult>;
  /** Sends a reminder, or sets it for the end of the quiet hours. */
  remind(requestId: string, row: OutboxRow, quietUntil?: number): Promise<RemindResult>;
  /** Lets further people decide; `views` are their cards. */
  escalate(requestId: string, row: OutboxRow, views?: readonly NewView[]): Promise<EscalateResult>;
  /** Gives up an attempt without a heartbeat. An unknown outcome stays due until `askResolvers`, or until it is known. */
  recover(requestId: string): Promise<RecoverResult>;
  /** Sends the question about an unknown outcome, of which the caller has seen this revision. */
  askResolvers(
    requestId: string,
    revision: number,
    question: { readonly row: OutboxRow; readonly views: readonly NewView[] },
  ): Promise<AskResolversResult>;
  /** Removes an ended request, once it has been kept long enough or, with `early`, at once. */
  purge(requestId: string, options?: { readonly early?: boolean }): Promise<PurgeResult>;
  /** Removes an idle thread, once it has been kept long enough or, with `early`, at once. */
  retire(
    threadId: string,
    options?: { readonly early?: boolean },
  ): Promise<{ readonly outcome: 'retired' | 'not-due' | 'in-use' }>;

  enqueueOutbox(threadId: string, row: OutboxRow): Promise<void>;
  /** Stores a row that the caller itself handles and then marks as done. If it does not within the claim, another process does. */
  holdOutbox(
    threadId: string,
    row: OutboxRow,
    leaseMs: number,
  ): Promise<OutboxItem & { readonly kind: 'row' }>;
  claimOutbox(
    shard: number,
    options: { readonly leaseMs: number; readonly limit: number },
  ): Promise<OutboxItem[]>;
  doneRow(item: OutboxItem & { kind: 'row' }): Promise<'done' | 'stale'>;
  /** Marks a view as drawn; with `againMs` it is due once more after that time. */
  doneView(
    item: OutboxItem & { kind: 'view' },
    revision: number,
    postedAt: JsonObject,
    againMs?: number,
  ): Promise<'done' | 'due-again' | 'due-later' | 'stale'>;
  /** Returns an item to be sent later. With `isUnsent` the attempt cannot have sent it, and does not count. */
  retryOutbox(
    item: OutboxItem,
    delayMs: number,
    options?: { readonly isUnsent?: boolean },
  ): Promise<'later' | 'stale'>;

  /** Lists requests that wait for any of these people and groups, newest first. */
  listWaiting(people: readonly string[], page: PageOptions): Promise<Page>;
  listAsked(person: string, page: PageOptions): Promise<Page>;
  listDecided(person: string, page: PageOptions): Promise<Page>;
  /** Counts a person's undecided requests over all threads, among the newest 32 of each shard. */
  countPending(requester: string): Promise<number>;
  /** Finds work that has been due in a shard for `overdueMs`, by Redis's clock. */
  due(shard: number, options: { readonly overdueMs: number; readonly limit: number }): Promise<DueWork>;
  /** Measures the open requests, queues and timers of a shard for the operator, at the cost of a few look-ups. */
  measure(shard: number): Promise<Measures>;
  /** Counts a thread, and one of its requests, for `measure` by what is on record. */
  recount(threadId: string, requestId?: string): Promise<void>;
  close(): Promise<void>;
}
