import type { Logger } from 'pino';
import type { EffectEnd } from '../agent/calls/journal.ts';
import type { JsonObject, JsonValue } from '../agent/json.ts';
import type { RunOptions } from '../agent/settle.ts';
import type { ClaimedTurn, RequestRecord, Store } from '../store/port/store.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import type { GrantEvidence } from './grant-evidence.ts';
import type { Reason } from './reasons.ts';
import type { TaskPeople } from './task-people.ts';

/** A person who votes, in their own right or in the place of an approver. */
export interface Voter {
  readonly who: string;
  readonly standsFor?: string | undefined;
  /** The proof that their passkey signed. */
  readonly proof?: JsonObject | undefined;
}

/** A person who may decide for an approver. */
export interface StandIn {
  readonly who: string;
  readonly standsFor: string;
}

/** The approvals of a request that still count, with the evidence of each check. */
export interface CheckedApprovers {
  readonly stillEligible: readonly string[];
  /** The numbers of the approver groups that each of them is in now; only where the policy has groups. */
  readonly groups?: Readonly<Record<string, readonly number[]>>;
  readonly evidence: JsonObject;
}

/** The people of the workspace, as far as the start of a Run depends on them. It throws if nobody can tell now. */
export interface People {
  /** Tells whether everyone of these people is active and may still ask in a channel. */
  mayAllAsk(people: readonly string[], channel: string): Promise<boolean>;
  /** Checks which approvals of a request still count. */
  checkApprovers(request: RequestRecord, approvers: readonly Voter[]): Promise<CheckedApprovers>;
}

/** A use of a grant by a call in a turn. */
export interface GrantUsed {
  readonly grant: GrantEvidence;
  readonly threadId: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly used: number;
  readonly end: EffectEnd;
}

/** The dependencies of the engine. A door into it, such as Slack, brings the people and the words. */
export interface EngineContext {
  readonly store: Store;
  readonly toolbox: Toolbox;
  readonly people: People;
  /** Puts the refusal of a call into words, for the model, the people of its thread, or its caller. */
  readonly describeRefusal: (refusal: Reason) => string;
  /** Tells the thread how a call under a grant ended, once for each call. */
  readonly tellOfGrant: (used: GrantUsed) => Promise<void>;
  readonly logger: Logger;
}

/** The dependencies of the executor of approved Runs. */
export interface ExecutorContext extends EngineContext {
  readonly timing: {
    /** An attempt without a heartbeat for this long is given up. */
    readonly heartbeatTimeoutMs: number;
    readonly heartbeatMs: number;
    /** The shortest time between two changes of a card that only show progress. */
    readonly progressMs: number;
    /** The lease of the turn that follows. */
    readonly leaseMs: number;
  };
  readonly updates: { takeProgress(): Promise<boolean> };
  /** Returns the context of a tool call and the place of its files. */
  readonly toolSettings: (
    run: TaskPeople & { readonly threadId: string },
    key: string,
  ) => Pick<RunOptions, 'context' | 'files'>;
  /** Returns the signal by which a person or the end of the process stops a running action. */
  readonly beginAction: (requestId: string) => { readonly signal: AbortSignal; readonly end: () => void };
  /** Does the work of a request in its trace. */
  readonly inTrace: (request: RequestRecord, work: () => Promise<void>) => Promise<void>;
  /** Tells a caller that it can start an approved Run itself; safe to do twice. */
  readonly tellCaller: (request: RequestRecord) => Promise<void>;
  /** Runs the turn that the end of a Run has claimed; `sentAt` is the time before the claim was sent. */
  readonly continueThread: (turn: ClaimedTurn, sentAt: number, trace: string | undefined) => Promise<void>;
}

/** Returns the channel of a thread. */
export function channelOf(threadId: string): string {
  const [channel = ''] = threadId.split(':');
  return channel;
}
