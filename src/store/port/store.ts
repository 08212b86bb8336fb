import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { AuditStore } from './audit.ts';
import type { DocumentStore } from './documents.ts';
import type { NewRun, NewView, UndoNote, UndoStep } from './request-record.ts';
import type {
  AnswerResult,
  ClaimResult,
  CountCallResult,
  DoneResult,
  EndResult,
  EnqueueResult,
  FinishResult,
  HeartbeatResult,
  LoadResult,
  NoteUndoResult,
  NotifyResult,
  OpenResult,
  PurgeResult,
  RecoverResult,
  RedrawResult,
  RenewLeaseResult,
  ResolveResult,
  StartEffectResult,
  StartResult,
  SuspendResult,
  VoteResult,
} from './results.ts';
import type { SummaryStore } from './summaries.ts';
import type {
  Actor,
  Attempt,
  ClaimedTurn,
  Continuation,
  CountedCall,
  Drawn,
  DueWork,
  EffectFinish,
  EffectStart,
  End,
  EnqueueOptions,
  HomePage,
  InboxItem,
  KeptFile,
  Measures,
  Notice,
  OutboxItem,
  OutboxRow,
  Outcome,
  Page,
  PageOptions,
  QuarantinedThread,
  RequestList,
  ThreadSnapshot,
  TurnEnd,
  TurnFailure,
  Verdict,
  Vote,
} from './values.ts';
import type { FreezeStore, GrantStore, LimitStore, UsageStore } from './workspace.ts';

/**
 * The record of requests, votes and runs. Each verb is one atomic step and safe to send twice. A wrong id, a wrong state and a lost
 * race are return values that change nothing; only an outage throws.
 */
export interface Store
  extends AuditStore,
    SummaryStore,
    DocumentStore,
    FreezeStore,
    GrantStore,
    LimitStore,
    UsageStore {
  /** Adds a message to a thread's inbox, once; with `leaseMs` it claims the next turn in the same step. */
  enqueue(threadId: string, item: InboxItem, options?: EnqueueOptions): Promise<EnqueueResult>;
  claimTurn(threadId: string, leaseMs: number): Promise<ClaimResult>;
  renewLease(turn: ClaimedTurn, leaseMs: number): Promise<RenewLeaseResult>;
  /**
   * Gives a turn back, so that another process continues it at once, or when a freeze of the model has ended. One that failed is tried again later; after too many failures in a
   * row its thread is quarantined.
   */
  release(
    turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
    failure?: TurnFailure,
  ): Promise<{ readonly outcome: 'released' | 'failed' | 'quarantined' | 'stale' }>;
  /** Lets a quarantined thread continue. */
  unquarantine(
    threadId: string,
    evidence: JsonObject,
  ): Promise<{ readonly outcome: 'unquarantined' | 'not-quarantined' }>;
  /** Lists all quarantined threads, oldest first. */
  listQuarantined(): Promise<readonly QuarantinedThread[]>;
  /** Records that a call is about to take effect, and logs the messages that made it. */
  startEffect(turn: ClaimedTurn, start: EffectStart): Promise<StartEffectResult>;
  /** Counts a call without effects before it runs, against its limits and as a use of its grant. */
  countCall(threadId: string, call: CountedCall): Promise<CountCallResult>;
  finishEffect(turn: ClaimedTurn, finish: EffectFinish): Promise<{ readonly outcome: 'finished' | 'stale' }>;
  /**
   * Asks the running turn of a thread to stop, in whichever process it runs or is continued. It starts no further effect, and `suspend`
   * withdraws what it asks people for in this person's name. No later turn is stopped.
   */
  stop(
    threadId: string,
    stopper: Omit<Actor, 'eligible'>,
  ): Promise<{ readonly outcome: 'stopping' | 'idle' }>;
  /** Lists the open requests of a thread's latest round. */
  waitingIn(threadId: string): Promise<readonly string[]>;
  /** Reads a thread beside its turns, or only what no turn has read. Nothing is claimed, so that it may have changed when it arrives. */
  readThread(threadId: string, options?: { readonly inboxOnly?: boolean }): Promise<ThreadSnapshot>;
  /** Ends a turn. With requests the thread waits for them; without, the next message starts a turn. */
  suspend(turn: ClaimedTurn, end: TurnEnd): Promise<SuspendResult>;

  /** Keeps a file as long as its thread, once, or, with `undefined`, removes it; a thread that is full or gone keeps none. */
  writeFile(
    threadId: string,
    id: string,
    file: Omit<KeptFile, 'id'> | undefined,
  ): Promise<'written' | 'unknown-thread' | 'full'>;
  /** Reads files that a thread keeps, in this order; one that it does not keep is left out. */
  readFiles(threadId: string, ids: readonly string[]): Promise<readonly KeptFile[]>;

  /**
   * Opens a Run with its Ask that no thread made, once for its id. With `former` it takes the place of that one, whose end is seen to by it.
   */
  open(run: NewRun, former?: string): Promise<OpenResult>;
  load(requestId: string): Promise<LoadResult>;
  /** Records a vote; with an attempt it starts the action in the same step, if the vote completes the quorum. */
  vote(requestId: string, vote: Vote, attempt?: Attempt): Promise<VoteResult>;
  answer(requestId: string, actor: Actor, value: JsonValue): Promise<AnswerResult>;
  /** Ends a request that does not run. Of one that was started before the outcome is unknown, and people are asked. */
  end(requestId: string, end: End): Promise<EndResult>;
  start(requestId: string, attempt: Attempt): Promise<StartResult>;
  heartbeat(
    requestId: string,
    attempt: string,
    heartbeatTimeoutMs: number,
    progress?: string,
  ): Promise<HeartbeatResult>;
  /**
   * Records the outcome of an attempt; with `leaseMs` it claims the next turn in the same step, if no other request of the round is open. Of an
   * action that paused while it ran, the turn that has its thread records how it goes on.
   */
  finish(requestId: string, outcome: Outcome | Continuation, leaseMs?: number): Promise<FinishResult>;
  /**
   * Makes the cards of an open request, or of one with a grant, due, once for each cause: something beside it has changed that they show. `views`
   * are further places for the card of one that has not ended.
   */
  redraw(
    requestId: string,
    change: { readonly cause?: string; readonly views?: readonly NewView[] },
  ): Promise<RedrawResult>;
  /** Records the outcome of an action whose outcome is unknown. With `tries`, a verdict on an earlier attempt is refused. */
  resolve(
    requestId: string,
    actor: Actor,
    verdict: Verdict,
    reason: string,
    tries?: number,
  ): Promise<ResolveResult>;

  /**
   * Records a step of the undo and redraws the cards of the action; a step that is behind changes nothing. `offered` holds for `withinMs`
   * after the success. The request that undoes is one of its own.
   */
  noteUndo(requestId: string, step: UndoStep, note?: UndoNote, withinMs?: number): Promise<NoteUndoResult>;

  /**
   * Sends the notice of a timer: `remind` the approvers, `escalate` to further people, ask about an unknown outcome (`recover`), or note that
   * somebody has seen to the end of a Run that no thread made (`ended`).
   */
  notify(
    requestId: string,
    timer: 'remind' | 'escalate' | 'recover' | 'ended',
    notice: Notice,
  ): Promise<NotifyResult>;
  /**
   * Gives up an attempt without a heartbeat, or at once one whose own worker says that nobody can know its outcome, with the reason for
   * people. An unknown outcome stays due until its notice, or until it is known.
   */
  recover(
    requestId: string,
    own?: { readonly attempt: string; readonly reason: string },
  ): Promise<RecoverResult>;
  /** Removes an ended request, once it has been kept long enough or, with `early`, at once. */
  purge(requestId: string, options?: { readonly early?: boolean }): Promise<PurgeResult>;
  /** Removes an idle thread, once it has been kept long enough or, with `early`, at once. */
  retire(
    threadId: string,
    options?: { readonly early?: boolean },
  ): Promise<{ readonly outcome: 'retired' | 'not-due' | 'in-use' }>;

  /** Stores a row. With a lease the caller itself handles it and then marks it as done; if it does not in time, another process does. */
  enqueueOutbox(
    threadId: string,
    row: OutboxRow,
    leaseMs?: number,
  ): Promise<OutboxItem & { readonly kind: 'row' }>;
  claimOutbox(options: { readonly leaseMs: number; readonly limit: number }): Promise<OutboxItem[]>;
  /** Marks a row or a Home as sent, or a card or a digest as drawn at a revision; with `againMs` it is due once more after that time. */
  done(item: OutboxItem, drawn?: Drawn): Promise<DoneResult>;
  /** Returns an item to be sent later. With `isUnsent` the attempt cannot have sent it, and does not count. */
  retryOutbox(
    item: OutboxItem,
    delayMs: number,
    options?: { readonly isUnsent?: boolean },
  ): Promise<'later' | 'stale'>;
  /** Keeps the Homes of people, and of the members of groups, up to date until a time: a change of a request makes those of its people due in the outbox. 0 ends it. */
  keepHomes(people: readonly string[], untilMs: number, page?: HomePage): Promise<void>;
  /** Lists those of these people whose Home is kept up to date. */
  openHomes(people: readonly string[]): Promise<readonly { person: string; page: HomePage }[]>;

  /** Lists the requests of any of these people and groups, newest first: those that wait for them, that they asked for, or that they decided. */
  list(name: RequestList, people: readonly string[], page: PageOptions): Promise<Page>;
  /** Finds work that has been due for `overdueMs`, by Redis's clock. */
  due(options: { readonly overdueMs: number; readonly limit: number }): Promise<DueWork>;
  /** Measures the open requests, queues and timers for the operator, at the cost of a few look-ups. */
  measure(): Promise<Measures>;
  close(): Promise<void>;
}
