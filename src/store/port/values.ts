import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { Message, ToolPart } from '../../agent/messages.ts';
import type { Document } from './documents.ts';
import type { NewRequest, NewView, SettledState } from './request-record.ts';
import type { TimerKind } from './work.ts';
import type { DoneCounter, GrantOffer, GrantUse, LimitUse } from './workspace.ts';

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
  /** Stops the turn that has not ended, in the same step: it was not given the item, and a turn that is has nothing to do with it. */
  readonly stops?: Omit<Actor, 'eligible'>;
  /** Claims the next turn for so long, in the same step; while requests are open, nothing is added then. Not together with `stops`. */
  readonly leaseMs?: number;
}

/** A file that a thread keeps: an image that the model sees, or a file that has to be sent. */
export interface KeptFile {
  readonly id: string;
  /** A media type, such as `image/png`. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** The end of a request that an earlier turn left open. */
export interface Settlement {
  readonly requestId: string;
  readonly state: SettledState;
  readonly by: string;
  readonly payload: string;
}

/** A call with effects that an unfinished turn has started. `paused` took no effect and has its interrupt; `finished` has its result. */
export type EffectRecord = {
  readonly ref: string;
  /** The latest run. */
  readonly run: string;
  /** The number of runs so far. */
  readonly runs: number;
  readonly firstStart: number;
} & ({ readonly state: 'started' } | { readonly state: 'paused' | 'finished'; readonly part: ToolPart });

/** A call in a turn as its limits and its grant count it. */
export interface CountedCall {
  readonly ref: string;
  readonly limits?: readonly LimitUse[];
  readonly grant?: GrantUse | undefined;
}

/** The start of a call with effects, with the messages that are not logged yet. */
export interface EffectStart extends CountedCall {
  readonly tool: string;
  /** New for every start, so that a repeated start is recognized. */
  readonly run: string;
  /** The number of messages that the turn knows to be logged. */
  readonly logged: number;
  readonly messages: readonly Message[];
  /** The number of inbox items that the messages hold. */
  readonly read: number;
  /** The body of the audit row. */
  readonly evidence: JsonObject;
}

/** The end of a run: `paused` took no effect and may run later; of `unknown` nobody knows. */
export type EffectEnd = 'succeeded' | 'failed' | 'paused' | 'unknown';

export interface EffectFinish {
  readonly ref: string;
  readonly run: string;
  readonly end: EffectEnd;
  readonly part: ToolPart;
  readonly evidence: JsonObject;
  /** Counters of first times, if it succeeded. */
  readonly done?: readonly DoneCounter[];
}

/** A claimed turn: the fencing token that its writes carry, and everything that it has to read. */
export interface ClaimedTurn {
  readonly threadId: string;
  readonly token: string;
  readonly messages: readonly Message[];
  readonly inbox: readonly InboxItem[];
  readonly settled: readonly Settlement[];
  /** The journal of a turn that ended without a suspend. */
  readonly effects: readonly EffectRecord[];
  /** Present if a person stopped the turn that this one continues. */
  readonly isStopped?: true;
}

/** A thread as it was at one moment; one that does not exist is empty. */
export interface ThreadSnapshot {
  readonly messages: readonly Message[];
  /** The items that no turn has read to its end. */
  readonly inbox: readonly InboxItem[];
  /** The ids of the last 1,000 items that arrived. */
  readonly seen: readonly string[];
  /** Present if no turn continues it until an admin has looked. */
  readonly isQuarantined?: true;
}

export interface TurnFailure {
  /** The number of failures in a row that quarantines the thread. */
  readonly mostFailures: number;
  /** The delay before the next try; it doubles with every failure. */
  readonly delayMs: number;
  readonly reason: string;
  /** Tell people that the thread is quarantined. */
  readonly notices: readonly OutboxRow[];
}

/** A thread that no worker claims, because its turns keep failing or its record cannot be read. */
export interface QuarantinedThread {
  readonly threadId: string;
  readonly reason: string;
  readonly since: number;
}

/** A message that has to be sent to Slack. */
export interface OutboxRow {
  readonly id: string;
  readonly body: JsonObject;
}

/** The notice of a timer. */
export interface Notice {
  readonly row?: OutboxRow;
  /** The cards of the people who can now decide. */
  readonly views?: readonly NewView[];
  /** Postpones it to the end of the quiet hours. */
  readonly quietUntil?: number | undefined;
  /** The revision of the request that the caller has seen; another one refuses the notice. */
  readonly revision?: number;
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

/** The end of a request that does not run: a requester or an operator withdraws it, it no longer holds, its card cannot be shown, its time is over. */
export type End =
  | (Omit<Actor, 'eligible'> & {
      readonly state: 'withdrawn';
      readonly reason?: string;
      readonly isOperator?: boolean;
    })
  | { readonly state: 'superseded' | 'failed'; readonly reason: string }
  | { readonly state: 'expired' };

export interface Vote extends Actor {
  readonly decision: 'approve' | 'reject';
  /** The digest of what the person was shown. */
  readonly shown: string;
  /** The numbers of the approver groups that the person may approve for, from 1; only where the policy has groups. */
  readonly groups?: readonly number[];
  readonly reason?: string;
  /** The approver in whose place the person votes, by a delegation that holds now. */
  readonly standsFor?: string;
  /** Limits the approvals of the person. */
  readonly rates?: readonly (Pick<LimitUse, 'key' | 'windowMs'> & { readonly max: number })[];
  /** The grant that the person allows as well; it is opened if the whole quorum does. */
  readonly grants?: GrantOffer;
  /** The numbers of the steps of a plan that the person leaves in it, and the digest of the plan with these. */
  readonly chosen?: { readonly steps: readonly number[]; readonly digest: string };
  /** The proof by the person's own key; a request whose policy asks for passkeys takes no approval without one. */
  readonly proof?: VoteProof;
}

/** A proof that a passkey signed. It counts once: the vote uses up its link and changes the person's keys in the same step. */
export interface VoteProof {
  readonly body: JsonObject;
  /** The document of the one-time link. */
  readonly link: readonly [group: string, id: string];
  /** The document of the person's keys: the version that the proof was checked with, and what it is from now on. */
  readonly keys: {
    readonly name: readonly [group: string, id: string];
    readonly seen: string;
    readonly next: Document;
  };
}

/** One attempt to run an approved action. */
export interface Attempt {
  readonly attempt: string;
  readonly tool: string;
  readonly digest: string;
  /** The attempt is given up when it has sent no heartbeat for this long. */
  readonly heartbeatTimeoutMs: number;
  /** The people whose approval still counts. */
  readonly stillEligible: readonly string[];
  /** The numbers of the approver groups that each of them is in now; only where the policy has groups. */
  readonly groups?: Readonly<Record<string, readonly number[]>>;
  readonly evidence: JsonObject;
  /** The limits that it counts against, under a name that is the same for every attempt. */
  readonly counts?: { readonly action: string; readonly limits: readonly LimitUse[] };
  /** Counters of first times for when it succeeds, or somebody finds out that it ran. */
  readonly done?: readonly DoneCounter[];
  /** Set by a caller that runs it itself. */
  readonly elsewhere?: true;
  /** The freeze of the manifest that holds it now: it stays approved, and is tried again. */
  readonly frozenBy?: string;
}

export interface Outcome {
  readonly attempt: string;
  /** A call that `paused` goes on in its thread, and a later `finish` says how it ended. */
  readonly state: 'succeeded' | 'failed' | 'paused';
  /** The result for the model. */
  readonly message: Message;
  /** The result for people. */
  readonly summary: JsonValue;
}

/** The end, or the next pause, of an action that paused while it ran, and the turn that continued it. */
export type Continuation = { readonly turn: Pick<ClaimedTurn, 'threadId' | 'token'> } & Continued;
export type Continued =
  | { readonly state: 'succeeded' | 'failed' | 'paused'; readonly summary: JsonValue }
  | { readonly state: 'superseded'; readonly reason: string };

export type Verdict = 'ran' | 'did-not-run' | 'run-again';

/** `pending` are those of `asked` that nobody has decided: a page looks at as many of `asked` as it may hold. */
export type RequestList = 'waiting' | 'asked' | 'pending' | 'decided';

export interface Page {
  readonly requestIds: readonly string[];
  /** The start of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

export interface PageOptions {
  readonly limit: number;
  readonly from?: string | undefined;
}

/** The size of the queues. */
export interface Measures {
  readonly requests: Readonly<Record<'pending' | 'approved' | 'started' | 'unknown', number>>;
  readonly quarantinedThreads: number;
  /** The number of messages that wait, how many of them are due, and the age of the oldest that is due: for Slack, and for the webhook of a caller. */
  readonly outbox: {
    readonly waiting: number;
    readonly due: number;
    readonly oldestMs: number;
    readonly oldestWebhookMs: number;
  };
  /** Timers and other work overdue by more than a minute. */
  readonly overdueTimers: number;
}

/** Work that is due. */
export interface DueWork {
  readonly threads: readonly string[];
  readonly runs: readonly string[];
  readonly timers: readonly { readonly kind: TimerKind; readonly id: string }[];
  readonly hasOutbox: boolean;
}

/** An outbox item that one sender has claimed: a row to send, a card of a request or the summary of a person to draw. */
export type OutboxItem = {
  readonly item: string;
  readonly owner: string;
  /** The number of attempts without success that may have sent it. */
  readonly tries: number;
} & (
  | { readonly kind: 'row'; readonly rowId: string; readonly body: JsonObject }
  | { readonly kind: 'view'; readonly requestId: string; readonly viewId: string }
  | { readonly kind: 'summary'; readonly person: string }
  /** The Home of a person, or of the members of a group. */
  | { readonly kind: 'home'; readonly person: string; readonly page: HomePage }
);

/** The list of a Home that a person has turned to a page; empty for the first pages. */
export interface HomePage {
  readonly list?: string | undefined;
  readonly from?: string | undefined;
}

/** A card or a summary as it was drawn: of which revision, and where it stands now. */
export interface Drawn {
  readonly revision: number;
  readonly postedAt: JsonObject;
  /** Makes it due once more after this time. */
  readonly againMs?: number | undefined;
  /** The number of the message of a summary, and the requests that do not wait for the person any more. */
  readonly number?: number;
  readonly gone?: readonly string[];
}
