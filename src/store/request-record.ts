import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { isPerson } from './keys.ts';

/**
 * How requests are written. Version 1 had all that never changes as one field of the hash and is read still. Since version 2 the
 * details have a key of their own, and the policy and the rules of execution are read from the fields that the scripts go by.
 */
export const REQUEST_VERSION = 2;

export const JsonRecord = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** Part of index entries and of lists that are kept as words. */
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
]);
export type SettledState = z.infer<typeof SettledState>;
export const RequestState = z.enum(['pending', 'approved', 'started', 'unknown', ...SettledState.options]);
export type RequestState = z.infer<typeof RequestState>;

/** Who may decide and within what time, as it was when the request was made. */
export const PolicySnapshot = z.strictObject({
  /** People and groups who may sign or answer. */
  principals: z.array(Id),
  /** People and groups who may say what became of an action whose outcome is unknown. */
  resolvers: z.array(Id),
  quorum: z.number().int().positive(),
  /** How many rejections end it. */
  vetoes: z.number().int().positive(),
  selfApproval: z.boolean(),
  expiresInMs: z.number().int(),
  remindEveryMs: z.number().int().positive().optional(),
  escalate: z.strictObject({ afterMs: z.number().int(), to: z.array(Id) }).optional(),
});
export type PolicySnapshot = Readonly<z.infer<typeof PolicySnapshot>>;

/** How an action may be tried: one that is not idempotent is never tried twice by itself. */
export const ExecutionRules = z.strictObject({
  idempotent: z.boolean(),
  maxAttempts: z.number().int().positive(),
  /** For how long after its first start an idempotent action may be tried again. */
  retryForMs: z.number().int(),
});
export type ExecutionRules = Readonly<z.infer<typeof ExecutionRules>>;

/** A request as a turn opens it. */
export interface NewRequest {
  readonly id: string;
  readonly kind: RequestKind;
  readonly requester: string;
  /** Binds the request to tool, definition, policy, arguments, requester and thread. */
  readonly digest: string;
  /** Names all that the digest rests on beside the call itself, so that the record can tell by itself that nothing of it changed. */
  readonly ground?: string;
  /** What a card is drawn from: the tool, its input, the interrupt. */
  readonly details: JsonObject;
  readonly policy: PolicySnapshot;
  readonly execution: ExecutionRules;
  /** Where the card is to stand. */
  readonly views?: readonly NewView[];
}

/** A further place for a request's card. */
export interface NewView {
  readonly id: string;
  readonly place: JsonObject;
}

/** What must hold for a request before it is written; a script that fails half-way could not take back what it wrote. */
export const RequestRules = z.object({
  kind: RequestKind,
  requester: Id,
  policy: PolicySnapshot,
  execution: ExecutionRules,
  views: z.array(z.object({ id: Id })).optional(),
});

export interface RecordedVote {
  readonly who: string;
  readonly decision: 'approve' | 'reject';
  readonly at: number;
}

/** A place where the card stands or is to stand. */
export interface RecordedView {
  readonly id: string;
  readonly place: JsonObject;
  /** Where Slack put it, once it was posted. */
  readonly stands: JsonObject | undefined;
  readonly drawn: number;
}

/** A request as it is now. */
export interface RequestRecord {
  readonly id: string;
  readonly threadId: string;
  readonly state: RequestState;
  /** Grows with every change that a card shows. */
  readonly revision: number;
  readonly kind: RequestKind;
  readonly requester: string;
  readonly digest: string;
  readonly details: JsonObject;
  readonly policy: PolicySnapshot;
  readonly execution: ExecutionRules;
  /** Who may sign now: the policy's people, and those it was escalated to. */
  readonly principals: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settledAt: number | undefined;
  readonly by: string | undefined;
  /** The answer, the reason or the outcome, by state. */
  readonly payload: string | undefined;
  readonly approvals: number;
  readonly rejections: number;
  readonly votes: readonly RecordedVote[];
  readonly attempts: number;
  readonly attempt: string | undefined;
  readonly progress: string | undefined;
  readonly views: readonly RecordedView[];
}
