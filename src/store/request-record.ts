import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { isPerson, threadOf } from './keys.ts';
import { readPart } from './problem-of.ts';

/**
 * How requests are written. Version 1 had all that never changes as one field of the hash and is read still. Since version 2 the
 * details have a key of their own, and the policy and the rules of execution are read from the fields that the scripts go by.
 */
export const REQUEST_VERSION = 2;
const VERSIONS: readonly (string | undefined)[] = ['1', '2'];

const JsonRecord = z.custom<JsonObject>(
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

/** What version 1 kept as one JSON text. */
const FirstFixed = z.strictObject({
  v: z.literal(1),
  details: JsonRecord,
  policy: PolicySnapshot,
  execution: ExecutionRules,
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

const Decision = z.enum(['approve', 'reject']);
const Count = z.coerce.number().int().nonnegative();
const Stored = z.object({
  v: z.enum(['1', '2']),
  state: RequestState,
  rev: Count,
  kind: RequestKind,
  requester: z.string(),
  digest: z.string(),
  principals: z.string(),
  created: Count,
  expires: z.coerce.number().int(),
  settled_at: Count.optional(),
  by: z.string().optional(),
  payload: z.string().optional(),
  approvals: Count.default(0),
  rejections: Count.default(0),
  attempts: Count.default(0),
  attempt: z.string().optional(),
  progress: z.string().optional(),
  views: z.string(),
});

const STATES: ReadonlySet<string | undefined> = new Set(RequestState.options);
const KINDS: ReadonlySet<string | undefined> = new Set(RequestKind.options);
const COUNTS = ['rev', 'created'] as const;
/** These are not written before there is something to count. */
const LATE_COUNTS = ['approvals', 'rejections', 'attempts'] as const;
const TEXTS = ['requester', 'digest', 'principals', 'views'] as const;
const DIGITS = /^\d{1,15}$/;

/** The fields of a hash by their types. What a quick look finds sound the schema would pass as well; every doubt is the schema's. */
function readStored(fields: Readonly<Record<string, string>>): z.infer<typeof Stored> {
  const { v, state, kind, expires = '', settled_at: settledAt } = fields;
  const isSound =
    VERSIONS.includes(v) &&
    STATES.has(state) &&
    KINDS.has(kind) &&
    DIGITS.test(expires) &&
    (settledAt === undefined || DIGITS.test(settledAt)) &&
    COUNTS.every((name) => DIGITS.test(fields[name] ?? '')) &&
    LATE_COUNTS.every((name) => DIGITS.test(fields[name] ?? '0')) &&
    TEXTS.every((name) => fields[name] !== undefined);
  if (!isSound) return Stored.parse(fields);
  const count = (name: string) => Number(fields[name] ?? 0);
  const text = (name: string) => fields[name] ?? '';
  return {
    v: v as '1' | '2',
    state: state as RequestState,
    kind: kind as RequestKind,
    rev: count('rev'),
    requester: text('requester'),
    digest: text('digest'),
    principals: text('principals'),
    created: count('created'),
    expires: count('expires'),
    settled_at: settledAt === undefined ? undefined : Number(settledAt),
    by: fields.by,
    payload: fields.payload,
    approvals: count('approvals'),
    rejections: count('rejections'),
    attempts: count('attempts'),
    attempt: fields.attempt,
    progress: fields.progress,
    views: text('views'),
  };
}

/**
 * Reads a request back from its hash and from what never changes of it; what cannot be read throws one error that says where it
 * does not fit.
 */
export function parseRequestRecord(
  id: string,
  fields: Readonly<Record<string, string>>,
  record: string | null,
): RequestRecord {
  const stored = readStored(fields);
  const { details, policy, execution } =
    stored.v === '1'
      ? readPart('record', () => FirstFixed.parse(JSON.parse(fields.record ?? '')))
      : {
          details: readPart('record', () => JsonRecord.parse(JSON.parse(record ?? ''))),
          policy: readPart('policy', () => PolicySnapshot.parse(policyIn(fields))),
          execution: readPart('execution', () => ExecutionRules.parse(executionIn(fields))),
        };
  return {
    id,
    threadId: threadOf(id) ?? '',
    state: stored.state,
    revision: stored.rev,
    kind: stored.kind,
    requester: stored.requester,
    digest: stored.digest,
    details,
    policy,
    execution,
    principals: words(stored.principals),
    createdAt: stored.created,
    expiresAt: stored.expires,
    settledAt: stored.settled_at,
    by: stored.by,
    payload: stored.payload,
    approvals: stored.approvals,
    rejections: stored.rejections,
    votes: Object.keys(fields)
      .filter((field) => field.startsWith('vote:'))
      .map((field) => parseVote(field.slice('vote:'.length), fields))
      // Redis gives the fields of a hash in no order.
      .sort((left, right) => left.at - right.at),
    attempts: stored.attempts,
    attempt: stored.attempt === '' ? undefined : stored.attempt,
    progress: stored.progress,
    views: words(stored.views).map((view) => parseView(view, fields)),
  };
}

/** The policy as it was when the request was made, whoever was asked since. */
function policyIn(fields: Readonly<Record<string, string>>): object {
  const { principals = '', resolvers = '', escalate_to: to = '', remind_every: remind } = fields;
  const { created, expires, self, escalate_after: after, escalated_at: escalatedAt } = fields;
  const first = escalatedAt === undefined ? principals : principals.slice(0, -1 - to.length);
  return {
    principals: words(first),
    resolvers: words(resolvers),
    quorum: Number(fields.quorum),
    vetoes: Number(fields.vetoes),
    selfApproval: self === '1',
    expiresInMs: Number(expires) - Number(created),
    ...(remind !== undefined && { remindEveryMs: Number(remind) }),
    ...(after !== undefined && { escalate: { afterMs: Number(after), to: words(to) } }),
  };
}

function executionIn(fields: Readonly<Record<string, string>>): object {
  const { idempotent, max_attempts: maxAttempts = 1, retry_for: retryFor = 0 } = fields;
  return {
    idempotent: idempotent === '1',
    maxAttempts: Number(maxAttempts),
    retryForMs: Number(retryFor),
  };
}

function parseVote(who: string, fields: Readonly<Record<string, string>>): RecordedVote {
  const read = <Part>(name: string, schema: z.ZodType<Part>) =>
    readPart(`${name}:${who}`, () => schema.parse(fields[`${name}:${who}`]));
  return { who, decision: read('vote', Decision), at: read('at', Count) };
}

function parseView(id: string, fields: Readonly<Record<string, string>>): RecordedView {
  const read = <Part>(name: string, schema: z.ZodType<Part>, missing: string) =>
    readPart(`${name}:${id}`, () => schema.parse(JSON.parse(fields[`${name}:${id}`] ?? missing)));
  return {
    id,
    place: read('view', JsonRecord, 'null'),
    stands: fields[`stands:${id}`] === undefined ? undefined : read('stands', JsonRecord, 'null'),
    drawn: read('drawn', Count, '0'),
  };
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
