import { z } from 'zod';
import { threadOf } from './keys.ts';
import { readPart } from './problem-of.ts';
import {
  ExecutionRules,
  JsonRecord,
  PolicySnapshot,
  type RecordedView,
  type RecordedVote,
  RequestKind,
  type RequestRecord,
  RequestState,
} from './request-record.ts';

const VERSIONS: readonly (string | undefined)[] = ['1', '2'];
/** What version 1 kept as one JSON text. */
const FirstFixed = z.strictObject({
  v: z.literal(1),
  details: JsonRecord,
  policy: PolicySnapshot,
  execution: ExecutionRules,
});

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
