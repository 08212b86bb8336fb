import { z } from 'zod';
import { threadOf } from './keys.ts';
import { readPart } from './read-part.ts';
import {
  ExecutionRules,
  JsonRecord,
  PolicySnapshot,
  type RecordedView,
  type RecordedVote,
  RequestKind,
  type RequestRecord,
  RequestState,
  UndoNote,
  UndoStep,
} from './request-record.ts';

/** The immutable part of version 1, one JSON text. */
const FirstFixed = z.strictObject({
  v: z.literal(1),
  details: JsonRecord,
  policy: PolicySnapshot,
  execution: ExecutionRules,
});

const Decision = z.enum(['approve', 'reject']);
const Count = z.coerce.number().int().nonnegative();
const Stored = z.object({
  v: z.enum(['1', '2', '3', '4']),
  state: RequestState,
  rev: Count,
  kind: RequestKind,
  requester: z.string(),
  requesters: z.string().optional(),
  barred: z.string().default(''),
  digest: z.string(),
  principals: z.string(),
  created: Count,
  expires: z.coerce.number().int(),
  decided_at: Count.optional(),
  settled_at: Count.optional(),
  by: z.string().optional(),
  payload: z.string().optional(),
  approvals: Count.default(0),
  rejections: Count.default(0),
  attempts: Count.default(0),
  attempt: z.string().optional(),
  progress: z.string().optional(),
  views: z.string(),
  granted: z.string().optional(),
  trace: z.string().optional(),
});

/** Parses a request from its hash and its immutable record; an error names the part that does not fit. */
export function parseRequestRecord(
  id: string,
  fields: Readonly<Record<string, string>>,
  record: string | null,
): RequestRecord {
  const stored = Stored.parse(fields);
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
    requesters: words(stored.requesters ?? stored.requester),
    barred: words(stored.barred),
    digest: stored.digest,
    details,
    policy,
    execution,
    principals: words(stored.principals),
    createdAt: stored.created,
    expiresAt: stored.expires,
    decidedAt: stored.decided_at,
    settledAt: stored.settled_at,
    by: stored.by,
    payload: stored.payload,
    approvals: stored.approvals,
    rejections: stored.rejections,
    votes: Object.keys(fields)
      .filter((field) => field.startsWith('vote:'))
      .map((field) => parseVote(field.slice('vote:'.length), fields))
      // Redis returns the fields of a hash in no order.
      .sort((left, right) => left.at - right.at),
    granted: stored.granted === '1',
    attempts: stored.attempts,
    attempt: stored.attempt === '' ? undefined : stored.attempt,
    progress: stored.progress,
    views: words(stored.views).map((view) => parseView(view, fields)),
    undo: parseUndo(fields),
    trace: stored.trace,
  };
}

/** Joins the notes of all steps of an undo. */
function parseUndo(fields: Readonly<Record<string, string>>): RequestRecord['undo'] {
  const { undo_step: last } = fields;
  if (last === undefined) return undefined;
  return readPart('undo', () => {
    const note = (step: UndoStep) => UndoNote.parse(JSON.parse(fields[`undo:${step}`] ?? '{}'));
    const notes = { ...note('over'), ...note('asked'), ...note('linked'), ...note('ended') };
    return { ...notes, step: UndoStep.parse(last) };
  });
}

/** Reads the policy as it was when the request was made, without the people it was escalated to. */
function policyIn(fields: Readonly<Record<string, string>>): object {
  const { principals = '', resolvers = '', escalate_to: to = '', remind_every: remind } = fields;
  const { created, expires, self, escalate_after: after, escalated_at: escalatedAt } = fields;
  const { start_within: startWithin, groups, excluded, delegation } = fields;
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
    ...(startWithin !== undefined && { startWithinMs: Number(startWithin) }),
    ...(groups !== undefined && { groups: words(groups).map(parseGroup) }),
    ...(excluded !== undefined && { excluded: words(excluded) }),
    ...(delegation === '1' && { delegation: true }),
  };
}

/** Parses a group such as `1:S1,U2`. */
function parseGroup(text: string): object {
  const [quorum = '', any = ''] = text.split(':', 2);
  return { any: any.split(',').filter((id) => id !== ''), quorum: Number(quorum) };
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
  const groups = fields[`groups:${who}`];
  const standsFor = fields[`for:${who}`];
  return {
    who,
    decision: read('vote', Decision),
    at: read('at', Count),
    ...(groups !== undefined && { groups: words(groups).map(Number) }),
    ...(standsFor !== undefined && standsFor !== '' && { standsFor }),
    ...(fields[`grant:${who}`] === '1' && { grants: true as const }),
  };
}

function parseView(id: string, fields: Readonly<Record<string, string>>): RecordedView {
  const read = <Part>(name: string, schema: z.ZodType<Part>, missing: string) =>
    readPart(`${name}:${id}`, () => schema.parse(JSON.parse(fields[`${name}:${id}`] ?? missing)));
  return {
    id,
    place: read('view', JsonRecord, 'null'),
    postedAt: fields[`stands:${id}`] === undefined ? undefined : read('stands', JsonRecord, 'null'),
    drawn: read('drawn', Count, '0'),
  };
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
