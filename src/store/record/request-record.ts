import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { isPerson } from './keys.ts';

/**
 * The version of stored requests. Version 1 had its immutable part in one field of the hash, and is still read. Since version 2 the
 * details have a key of their own, and the policy and the execution rules are read from the fields that the scripts use. Version 3 has
 * approver groups or excluded people. Version 4 lets approvers delegate, or has paused while it ran. A request is written as the lowest
 * version that holds it, so that an older process can serve it.
 */
export const REQUEST_VERSION = 4;

export const JsonRecord = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** An id that fits index entries and lists separated by spaces. */
const Id = z.string().refine(isPerson, 'Not an id: letters, digits and : . _ - only');

export const RequestKind = z.enum(['approval', 'question', 'form', 'callback']);
export type RequestKind = z.infer<typeof RequestKind>;

export const SettledState = z.enum([
  'answered',
  'rejected',
  'expired',
  'withdrawn',
  'superseded',
  'succeeded',
  'failed',
  'resolved',
  // Its attempt has ended, and the call goes on in its thread; `conclude` says how.
  'paused',
]);
export type SettledState = z.infer<typeof SettledState>;
export const RequestState = z.enum(['pending', 'approved', 'started', 'unknown', ...SettledState.options]);
export type RequestState = z.infer<typeof RequestState>;

/** People and groups of whom as many as the quorum must approve. */
export const ApproverGroupSnapshot = z.strictObject({
  any: z.array(Id),
  quorum: z.number().int().positive(),
});

/** The policy as it was when the request was made: who may decide, and until when. */
export const PolicySnapshot = z.strictObject({
  /** People and groups who may approve or answer. */
  principals: z.array(Id),
  /** People and groups who may resolve an unknown outcome. */
  resolvers: z.array(Id),
  quorum: z.number().int().positive(),
  /** The number of rejections that end the request. */
  vetoes: z.number().int().positive(),
  selfApproval: z.boolean(),
  expiresInMs: z.number().int(),
  remindEveryMs: z.number().int().positive().optional(),
  escalate: z.strictObject({ afterMs: z.number().int(), to: z.array(Id) }).optional(),
  /** The time after the decision in which the action must start; a request of an older version has no limit. */
  startWithinMs: z.number().int().nonnegative().optional(),
  /** Groups that must all approve, each person for one of them only; `quorum` is the sum of theirs. */
  groups: z.array(ApproverGroupSnapshot).min(1).optional(),
  /** People and groups who may not approve although they are in `principals`. */
  excluded: z.array(Id).optional(),
  /** Whether somebody may decide for an approver who has delegated to them. */
  delegation: z.literal(true).optional(),
});
export type PolicySnapshot = Readonly<z.infer<typeof PolicySnapshot>>;

/** Returns the lowest version that holds a request of such a policy. */
export function versionFor({ groups, excluded = [], delegation }: PolicySnapshot): number {
  if (delegation === true) return REQUEST_VERSION;
  return groups === undefined && excluded.length === 0 ? 2 : 3;
}

/** The rules for attempts. An action that is not idempotent is never retried automatically. */
export const ExecutionRules = z.strictObject({
  idempotent: z.boolean(),
  maxAttempts: z.number().int().positive(),
  /** The time after its first start in which an idempotent action may be retried. */
  retryForMs: z.number().int(),
});
export type ExecutionRules = Readonly<z.infer<typeof ExecutionRules>>;

/** A new request of a turn. */
export interface NewRequest {
  readonly id: string;
  readonly kind: RequestKind;
  /** The requester who is shown first. */
  readonly requester: string;
  /** All requesters, `requester` first; left out if there is only one. */
  readonly requesters?: readonly string[];
  /** People who may not approve beside the requesters. */
  readonly barred?: readonly string[];
  /** Binds the request to tool, definition, policy, arguments, requesters and thread. */
  readonly digest: string;
  /** The call that the card shows and the action runs. */
  readonly details: JsonObject;
  readonly policy: PolicySnapshot;
  readonly execution: ExecutionRules;
  /** The places for the card. */
  readonly views?: readonly NewView[];
  /** Further fields of the audit row `asked`, so that the log alone tells what was asked. Secrets are removed. */
  readonly audit?: JsonObject;
  /** The trace that the request belongs to, as a W3C `traceparent`. */
  readonly trace?: string | undefined;
  /** Opens the request for a call that ran without approval and whose outcome is unknown. Resolvers are asked, and nobody votes. */
  readonly unsigned?: boolean;
}

/** A place for a request's card. */
export interface NewView {
  readonly id: string;
  readonly place: JsonObject;
}

/** The checks of a request before it is written, because a script that fails half-way cannot roll back. */
export const RequestRules = z.object({
  kind: RequestKind,
  requester: Id,
  requesters: z.array(Id).optional(),
  barred: z.array(Id).optional(),
  policy: PolicySnapshot.refine(
    ({ groups, quorum }) =>
      groups === undefined || groups.reduce((sum, group) => sum + group.quorum, 0) === quorum,
    'The quorum is not the sum of the groups',
  ),
  execution: ExecutionRules,
  views: z.array(z.object({ id: Id })).optional(),
});

/** The steps of the undo of an action, in this order. One that is `linked` has a card of its own; one that `ended` ran or did not. */
export const UndoStep = z.enum(['offered', 'over', 'asked', 'linked', 'ended']);
export type UndoStep = z.infer<typeof UndoStep>;
export const UndoNote = z.object({
  /** The person who asked for it. */
  by: z.string().optional(),
  /** The link to the card of the request that undoes it. */
  link: z.string().optional(),
  /** Whether the action was undone, and since when that is known. */
  isDone: z.boolean().optional(),
  at: z.number().optional(),
});
export type UndoNote = Readonly<z.infer<typeof UndoNote>>;

export interface RecordedVote {
  readonly who: string;
  readonly decision: 'approve' | 'reject';
  readonly at: number;
  /** The numbers of the approver groups, from 1; only where the policy has groups. */
  readonly groups?: readonly number[];
  /** The approver in whose place the person voted. */
  readonly standsFor?: string;
  /** Whether the person allows the same again. */
  readonly grants?: true;
}

/** A place of the card. */
export interface RecordedView {
  readonly id: string;
  readonly place: JsonObject;
  /** The posted Slack message. */
  readonly postedAt: JsonObject | undefined;
  readonly drawn: number;
}

/** A stored request. */
export interface RequestRecord {
  readonly id: string;
  readonly threadId: string;
  readonly state: RequestState;
  /** Increases with every change that a card shows. */
  readonly revision: number;
  readonly kind: RequestKind;
  /** The requester who is shown first. */
  readonly requester: string;
  /** All requesters, `requester` first. */
  readonly requesters: readonly string[];
  /** People who may not approve beside the requesters. */
  readonly barred: readonly string[];
  readonly digest: string;
  readonly details: JsonObject;
  readonly policy: PolicySnapshot;
  readonly execution: ExecutionRules;
  /** The people who may decide now: the policy's, and those it was escalated to. */
  readonly principals: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When the approval was complete. */
  readonly decidedAt: number | undefined;
  readonly settledAt: number | undefined;
  readonly by: string | undefined;
  /** The answer, the reason or the outcome, depending on the state. */
  readonly payload: string | undefined;
  readonly approvals: number;
  readonly rejections: number;
  readonly votes: readonly RecordedVote[];
  /** Whether the whole quorum allows the same again. */
  readonly granted: boolean;
  readonly attempts: number;
  readonly attempt: string | undefined;
  readonly progress: string | undefined;
  readonly views: readonly RecordedView[];
  /** The state of its undo; `undefined` if none was offered yet. */
  readonly undo: (UndoNote & { readonly step: UndoStep }) | undefined;
  /** The trace that the request belongs to, as a W3C `traceparent`. */
  readonly trace: string | undefined;
}
