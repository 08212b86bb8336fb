import type { JsonObject, JsonValue } from '../agent/json.ts';
import type { Message } from '../agent/messages.ts';
import type { AuditStore } from './audit-port.ts';
import type { NewRequest, NewView, SettledState } from './request-record.ts';
import type {
  AbandonResult,
  AddViewsResult,
  AnswerResult,
  BeatResult,
  EscalateResult,
  ExpireResult,
  FinishAndTakeResult,
  FinishResult,
  LoadResult,
  Malformed,
  PutAndTakeResult,
  PutResult,
  RecoverResult,
  RemindResult,
  RenewResult,
  ResolveResult,
  SignResult,
  StartResult,
  SupersedeResult,
  SuspendResult,
  TakeResult,
  Unknown,
  VoteAndStartResult,
  VoteResult,
  WithdrawResult,
} from './results.ts';

export { requestIdOf, threadOf } from './keys.ts';
export type { NewRequest, PolicySnapshot, RequestRecord } from './request-record.ts';
export type * from './results.ts';

/** Something that somebody said, waiting to be read; its id is the same however often it arrives. */
export interface InboxItem {
  readonly id: string;
  readonly body: JsonObject;
}

/** What became of a request that a turn had left open. */
export interface Settlement {
  readonly requestId: string;
  readonly state: SettledState;
  readonly by: string;
  readonly payload: string;
}

/** The right to write a thread's next turn, with all that the turn has to know. */
export interface TakenTurn {
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

/** What a turn leaves behind. */
export interface TurnEnd {
  readonly messages: readonly Message[];
  /** How many items of the inbox the turn has read. */
  readonly read: number;
  readonly requests?: readonly NewRequest[];
  readonly rows?: readonly OutboxRow[];
}

/** Who did something, and what shows that they might: it goes into the audit log as it is. */
export interface Deed {
  readonly who: string;
  readonly eligible: boolean;
  /** What the eligibility rests on, and an id of the click, so that two clicks are two rows. */
  readonly evidence: JsonObject;
}

export interface Vote extends Deed {
  readonly decision: 'approve' | 'reject';
  /** The digest of what the person was shown. */
  readonly shown: string;
  readonly reason?: string;
}

/** One try to carry an approved action out. */
export interface Attempt {
  readonly attempt: string;
  readonly digest: string;
  /** How long the attempt may go without a sign of life before it is given up. */
  readonly silenceMs: number;
  /** The people whose approval still counts now. */
  readonly stillEligible: readonly string[];
  readonly evidence: JsonObject;
}

export interface Outcome {
  readonly attempt: string;
  readonly state: 'succeeded' | 'failed';
  /** What the model is told. */
  readonly message: Message;
  /** What people are told. */
  readonly summary: JsonValue;
}

/** One person's approval that may be all that is needed, and the attempt that it would start. */
export interface Signature extends Pick<Deed, 'who' | 'evidence'>, Pick<Attempt, 'attempt' | 'silenceMs'> {
  /** What the request rests on now; see `NewRequest`. */
  readonly ground: string;
  /** The views at one of which the card was seen; none if it was seen elsewhere than at a view. */
  readonly seenAt: readonly string[];
}

export type Verdict = 'ran' | 'did-not-run' | 'run-again';

export interface Page {
  readonly requestIds: readonly string[];
  /** Where the next page begins; without it this was the last. */
  readonly next: string | undefined;
}

export interface PageOptions {
  readonly limit: number;
  readonly from?: string | undefined;
}

/** What is due and has to be woken, as a sweep finds it. */
export interface DueWork {
  readonly threads: readonly string[];
  readonly runs: readonly string[];
  readonly timers: readonly { readonly kind: TimerKind; readonly id: string }[];
  readonly hasOutbox: boolean;
}
export type TimerKind = 'expire' | 'remind' | 'escalate' | 'recover' | 'purge' | 'retire';

/** An item of the outbox that one sender holds: a row to send, or a view of a request to draw anew. */
export type OutboxItem = {
  readonly item: string;
  readonly owner: string;
  readonly shard: number;
  /** How often it could not be sent. */
  readonly tries: number;
} & (
  | { readonly kind: 'row'; readonly rowId: string; readonly body: JsonObject }
  | { readonly kind: 'view'; readonly requestId: string; readonly viewId: string }
);

/**
 * The record: what was asked, who signed, what ran. Each verb is one atomic step that may be sent twice. A wrong id, a wrong
 * state or a lost race is a return value and changes nothing; only an outage throws.
 */
export interface Store extends AuditStore {
  /** Takes what somebody said; with `onlyKnown`, only into a thread that is there already. */
  put(threadId: string, item: InboxItem, options?: { readonly onlyKnown?: boolean }): Promise<PutResult>;
  take(threadId: string, leaseMs: number): Promise<TakeResult>;
  /** `put` and `take` in one step, where no request waits. */
  putAndTake(
    threadId: string,
    item: InboxItem,
    options: { readonly leaseMs: number; readonly onlyKnown?: boolean },
  ): Promise<PutAndTakeResult>;
  renew(turn: TakenTurn, leaseMs: number): Promise<RenewResult>;
  /** Asks the turn that is going on to stop, in whatever process it runs. */
  stop(threadId: string): Promise<{ readonly outcome: 'stopping' | 'idle' }>;
  /** The requests of a thread's latest round that are not settled. */
  waitingIn(threadId: string): Promise<readonly string[]>;
  /** Ends a turn: with requests the thread waits for them, without it is free for what is said next. */
  suspend(turn: TakenTurn, end: TurnEnd): Promise<SuspendResult>;

  load(requestId: string): Promise<LoadResult>;
  vote(requestId: string, vote: Vote): Promise<VoteResult>;
  /** `vote` and, where it completes the quorum, `start` in one step. */
  voteAndStart(requestId: string, vote: Vote, attempt: Attempt): Promise<VoteAndStartResult>;
  /** `vote` and `start` in one step, where the record alone can tell that this person is all that is needed. */
  sign(requestId: string, signature: Signature): Promise<SignResult>;
  answer(requestId: string, deed: Deed, value: JsonValue): Promise<AnswerResult>;
  withdraw(requestId: string, deed: Omit<Deed, 'eligible'>, reason: string): Promise<WithdrawResult>;
  supersede(requestId: string, reason: string): Promise<SupersedeResult>;
  start(requestId: string, attempt: Attempt): Promise<StartResult>;
  beat(requestId: string, attempt: string, silenceMs: number, progress?: string): Promise<BeatResult>;
  finish(requestId: string, outcome: Outcome): Promise<FinishResult>;
  /**
   * `finish` and, where nothing else of the round waits, `take` in one step. The messages that are expected to stand in the thread then
   * are the turn's if they are as many as stand there, and are not read again.
   */
  finishAndTake(
    requestId: string,
    outcome: Outcome,
    leaseMs: number,
    expected?: () => readonly Message[] | undefined,
  ): Promise<FinishAndTakeResult>;
  /** Ends a request that cannot be shown to anybody. */
  abandon(requestId: string, reason: string): Promise<AbandonResult>;
  addViews(requestId: string, views: readonly NewView[]): Promise<AddViewsResult>;
  /** With a number of tries, a verdict on an earlier try than the last is not taken. */
  resolve(
    requestId: string,
    deed: Deed,
    verdict: Verdict,
    reason: string,
    tries?: number,
  ): Promise<ResolveResult>;

  expire(requestId: string): Promise<ExpireResult>;
  remind(requestId: string, row: OutboxRow): Promise<RemindResult>;
  escalate(requestId: string, row: OutboxRow): Promise<EscalateResult>;
  recover(requestId: string): Promise<RecoverResult>;
  purge(
    requestId: string,
  ): Promise<{ readonly outcome: 'purged' | 'not-due' | 'not-settled' } | Unknown | Malformed>;
  retire(threadId: string): Promise<{ readonly outcome: 'retired' | 'not-due' | 'in-use' }>;

  putOutbox(threadId: string, row: OutboxRow): Promise<void>;
  takeOutbox(
    shard: number,
    options: { readonly leaseMs: number; readonly limit: number },
  ): Promise<OutboxItem[]>;
  doneRow(item: OutboxItem & { kind: 'row' }): Promise<'done' | 'stale'>;
  doneView(
    item: OutboxItem & { kind: 'view' },
    revision: number,
    stands: JsonObject,
  ): Promise<'done' | 'due-again' | 'stale'>;
  retryOutbox(item: OutboxItem, delayMs: number): Promise<'later' | 'stale'>;

  /** Requests that wait for any of these people and groups, newest first. */
  listWaiting(people: readonly string[], page: PageOptions): Promise<Page>;
  listAsked(person: string, page: PageOptions): Promise<Page>;
  listDecided(person: string, page: PageOptions): Promise<Page>;
  /** How many requests of this person nobody has decided yet, over all threads, as far as they are among the newest 32 of their shard. */
  countPending(requester: string): Promise<number>;
  /** What has been due in a shard for that long, by Redis's clock. */
  due(shard: number, options: { readonly overdueMs: number; readonly limit: number }): Promise<DueWork>;
  close(): Promise<void>;
}
