import type { Logger } from 'pino';
import { z } from 'zod';
import type { EffectEnd } from '../agent/calls/journal.ts';
import type { ToolProgress } from '../agent/calls/run-call.ts';
import type { ModelError } from '../agent/errors.ts';
import type { GenerateResponse } from '../agent/generate.ts';
import type { JsonObject, JsonValue } from '../agent/json.ts';
import type { Message } from '../agent/messages.ts';
import type { RawCall } from '../agent/model.ts';
import type { CloseReply } from '../agent/replies.ts';
import type { RunOptions } from '../agent/settle.ts';
import type { NewRequest, RequestRecord } from '../store/port/request-record.ts';
import type { Store } from '../store/port/store.ts';
import type { ClaimedTurn, OutboxRow } from '../store/port/values.ts';
import type { Freeze } from '../store/port/workspace.ts';
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

/** A member of the workspace. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  readonly isStranger: boolean;
  readonly isDeactivated: boolean;
  /** The address in the profile, if the bot may read it. */
  readonly email?: string | undefined;
  /** Such as Europe/Berlin. */
  readonly timeZone: string | undefined;
  /** The status that the person has set, such as "On vacation"; for show only. */
  readonly status?: string | undefined;
}

/** The people and groups of the workspace. A look-up throws if it cannot be made now. */
export interface Directory {
  member(id: string): Promise<Member>;
  /** Returns the name of a person, a group or a channel; `undefined` if it has none, or none for the bot. */
  nameOf(id: string): Promise<string | undefined>;
  /** Lists the members of a group. */
  group(id: string): Promise<readonly string[]>;
  /** Lists the groups of a person. */
  groupsOf(id: string): Promise<readonly string[]>;
  /** Returns the person with an email address; `undefined` if there is nobody. */
  personWithEmail(email: string): Promise<string | undefined>;
  /** Tells whether a person is one of these people, or in one of these groups. */
  isAmong(id: string, principals: readonly string[]): Promise<boolean>;
  /** Resolves people and groups to people, with `isSure` false if a group could not be looked up. */
  peopleBehind(
    principals: readonly string[],
  ): Promise<{ readonly people: readonly string[]; readonly isSure: boolean }>;
  /** Tells a person from a group, a caller, a tool or an external system. */
  isPerson(id: string): boolean;
  isGroup(id: string): boolean;
  /** Tells whether a look-up that failed with an error may succeed later. */
  mayAskLater(error: unknown): boolean;
  /** Returns one that has no earlier answers. */
  fresh(): Directory;
  /** Returns one that may use older answers: for names and for whom to ask, never for a decision. */
  relaxed(): Directory;
}

/** A file that came with a message, as it is on record. */
export const AttachedFile = z.object({
  id: z.string(),
  name: z.string(),
  /** The size that was announced; nothing relies on it. */
  size: z.number().optional(),
  /** The address of the bytes; without one, the place has to be asked. */
  url: z.string().optional(),
  /** Why there is nothing to download. */
  absent: z.enum(['deleted', 'external']).optional(),
});
export type AttachedFile = Readonly<z.infer<typeof AttachedFile>>;

/** The reasons why a file is only named. */
export type NamedBecause =
  | 'too-large'
  | 'too-many'
  | 'no-room'
  | 'too-slow'
  | 'refused'
  | 'deleted'
  | 'external'
  | 'unreachable'
  | 'archive'
  | 'other'
  | 'switched-off'
  | 'unreadable'
  | 'empty'
  | 'no-decoder';

/** The bytes of a file, or the reason why there are none. */
export type FileBytes =
  | { readonly outcome: 'read'; readonly bytes: Buffer }
  | { readonly outcome: 'too-large' | 'too-slow' | 'refused' | 'deleted' | 'external' | 'unreachable' };

/** A message that somebody wrote in a thread, in plain text. */
export interface WrittenMessage {
  readonly id: string;
  readonly author: string;
  readonly name: string;
  readonly text: string;
  /** The time at which it was written, in seconds. */
  readonly at: number;
  readonly files: readonly AttachedFile[];
}

/** The part of a thread to read: after `since`, if it is given, and before `before`. */
export interface ThreadRange {
  readonly since: string | undefined;
  readonly before: string;
  /** The most bytes of text to keep beside the first message. */
  readonly maxBytes: number;
  /** Lists the messages that need not be read, once the others were. */
  readonly known: () => Promise<ReadonlySet<string>>;
}

export type ThreadRead =
  | {
      readonly outcome: 'read';
      readonly first: WrittenMessage | undefined;
      /** The newest messages after the first one, oldest first. */
      readonly messages: readonly WrittenMessage[];
      /** The number of messages between the first one and these that were left out. */
      readonly omitted: number;
      /** Whether the thread goes on after these, and was too long to read to its end. */
      readonly hasMore: boolean;
    }
  | { readonly outcome: 'limited' | 'refused' | 'unreachable'; readonly reason: string };

/** The threads and channels in which people write. To the engine their ids are opaque. */
export interface Places {
  /** Tells whether a message began its thread. */
  isFirst(threadId: string, messageId: string): boolean;
  /** Tells whether files can be shared there. */
  takesFiles(threadId: string): boolean;
  /** Reads what was written in a thread and is not known yet. */
  readThread(threadId: string, range: ThreadRange, signal: AbortSignal): Promise<ThreadRead>;
  /** Returns the topic of a channel, in plain text, with its author; `undefined` if there is none. */
  topicOf(channel: string): Promise<{ readonly text: string; readonly author: string } | undefined>;
  /** Completes what is known of a file. */
  describeFile(file: AttachedFile): Promise<AttachedFile>;
  readFile(
    file: AttachedFile,
    limits: { readonly maxBytes: number; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FileBytes>;
  /** Shows that a turn has read its messages. */
  markRead(turn: ClaimedTurn): Promise<void>;
  /** Shows that nothing works in a thread any more. */
  stopped(threadId: string): void;
  /** Stops showing a turn that has ended here, perhaps without an end. */
  leave(threadId: string): void;
}

/** A call that did not run, and why. */
export interface RefusedCall {
  readonly toolRequest: { readonly name: string; readonly ref: string };
  readonly metadata: { readonly interruptId: string; readonly reason: string };
}

/** The reason why a turn failed. */
export type TurnFailure =
  | { readonly code: 'process-died' }
  | { readonly code: 'failed'; readonly error: unknown };

/** The budgets of tokens: of a task, and of a day. */
export type BudgetName = 'task' | 'thread' | 'person' | 'bot';

/** Something that people or admins are told beside cards and replies. */
export type Notice =
  /** No model is called while a freeze holds. */
  | { readonly code: 'model-held'; readonly freeze: Freeze }
  | { readonly code: 'thread-not-read'; readonly why: Exclude<ThreadRead['outcome'], 'read'> }
  /** Files that somebody attached were not read. */
  | {
      readonly code: 'files-not-read';
      readonly files: readonly {
        readonly id: string;
        readonly name: string;
        readonly because: NamedBecause;
      }[];
    }
  /** An instruction was edited or deleted after it was read; it may be redone, unless something was done for it. */
  | { readonly code: 'revised'; readonly id: string; readonly how: 'deleted' | 'edited' | 'edited-too-late' }
  /** A tool sends a file, which the thread keeps. */
  | { readonly code: 'file'; readonly id: string; readonly name: string }
  /** Calls of a turn did not run, and nobody was asked. */
  | {
      readonly code: 'refused';
      readonly token: string;
      readonly calls: readonly RefusedCall[];
      readonly requester: string;
    }
  /** An undo has its result. */
  | {
      readonly code: 'undo-ended';
      readonly requestId: string;
      readonly by: string;
      readonly isDone: boolean;
    }
  /** A stop has withdrawn these requests; the messages tell what had run. */
  | {
      readonly code: 'stopped';
      readonly withdrawn: readonly string[];
      readonly messages: readonly Message[];
    }
  /** A thread failed so often that it is given up. */
  | { readonly code: 'given-up'; readonly token: string; readonly reason: string }
  /** The record of a thread cannot be read; admins only. */
  | { readonly code: 'unreadable'; readonly reason: string }
  /** A budget of a day is almost or all spent; admins only. */
  | {
      readonly code: 'budget-crossed';
      readonly budget: Exclude<BudgetName, 'task'>;
      readonly subject: string;
      readonly day: string;
      /** The share that was crossed, from 0 to 1. */
      readonly share: number;
      readonly spent: number;
      readonly limit: number;
    }
  /** The model fails until somebody does something about it; admins only. */
  | {
      readonly code: 'model-failed';
      readonly day: string;
      readonly error: ModelError;
      readonly reference: string;
    };

/** The result of a task, in the words of the model. */
export interface CompletedTask {
  readonly outcome: 'done' | 'partly-done' | 'not-done';
  readonly summary: string;
  readonly result?: unknown;
}

/** The end of a model's part of a turn, as people are to read it. */
export interface TurnReply {
  readonly response: GenerateResponse;
  /** Whether a person has stopped it, also while a call was on its way. */
  readonly isStopped: boolean;
  /** Names the turn where something went wrong. */
  readonly reference: string;
  readonly completed: readonly CompletedTask[];
  readonly refused: readonly RefusedCall[];
  /** The number of requests that people are asked about. */
  readonly asked: number;
}

/** The preview of a reply while the model writes it; the rows of its end deliver it. Nobody waits for it. */
export interface Preview {
  /** The model is asked; what it writes is a new paragraph. */
  thinking(): void;
  /** The calls of an answer begin. */
  running(reply: { readonly calls: readonly RawCall[] }): void;
  write(delta: string): void;
  report(progress: ToolProgress): void;
  failed(ref: string): void;
  /** Ends the preview for now; those of the calls in `waiting` wait for people. Further words begin it again. */
  pause(end: { readonly waiting: readonly string[]; readonly isStopped: boolean }): Promise<void>;
  /** Builds the rows that deliver the reply. */
  rows(reply: TurnReply): OutboxRow[];
  /** The end of the turn is on record. */
  recorded(): Promise<void>;
  /** The turn has ended here, on record or not. */
  leave(): void;
}

/** The beginning of a reply. */
export interface PreviewStart {
  /** The person who is answered. */
  readonly requester: string;
  /** The people whom the reply names at its beginning. */
  readonly addressees: readonly string[];
  /** The words that a new thread began with. */
  readonly title: string | undefined;
  readonly isNew: boolean;
  /** Whether the turn continues after a decision. */
  readonly isContinued: boolean;
}

/** What people read: a door writes it from codes, as rows of the outbox. */
export interface Messages {
  /** Writes a notice. One that is told again has the same rows, so that it is sent once. */
  rows(threadId: string, notice: Notice): Promise<OutboxRow[]>;
  /** Begins the reply of a turn. */
  preview(turn: ClaimedTurn, start: PreviewStart): Preview;
}

/** The asks to open, with the messages in which the calls are closed that nobody is asked about. */
export interface PlannedAsks {
  readonly messages: readonly Message[];
  readonly requests: readonly NewRequest[];
  /** The calls that nobody is asked about; the model is told. */
  readonly refused: readonly CloseReply[];
}

/** Plans what people are asked about the calls of a thread that wait. */
export interface AskPlanner {
  /** With `anew`, calls are asked again, and need no new place among those that wait. */
  open(
    threadId: string,
    messages: readonly Message[],
    options?: { readonly anew?: boolean },
  ): Promise<PlannedAsks>;
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
