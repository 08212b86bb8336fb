import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { JsonRecord } from '../../agent/json-schema.ts';
import { isPerson, requestIdOf, threadOf } from './keys.ts';

/** The version of stored requests. Long texts have a key of their own beside the hash, because they would unpack it. */
export const REQUEST_VERSION = 1;

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
  // Its attempt has ended, and the call goes on in its thread; a later `finish` says how.
  'paused',
]);
export type SettledState = z.infer<typeof SettledState>;
export const RequestState = z.enum(['pending', 'approved', 'started', 'unknown', ...SettledState.options]);
export type RequestState = z.infer<typeof RequestState>;

/** People and groups of whom as many as the quorum must approve. */
const ApproverGroupSnapshot = z.strictObject({
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
  /** The time after the decision in which the action must start. */
  startWithinMs: z.number().int().nonnegative().optional(),
  /** Groups that must all approve, each person for one of them only; `quorum` is the sum of theirs. */
  groups: z.array(ApproverGroupSnapshot).min(1).optional(),
  /** People and groups who may not approve although they are in `principals`. */
  excluded: z.array(Id).optional(),
  /** Whether somebody may decide for an approver who has delegated to them. */
  delegation: z.literal(true).optional(),
  /** Whether each approval is signed with the approver's passkey. */
  passkey: z.literal(true).optional(),
});
export type PolicySnapshot = Readonly<z.infer<typeof PolicySnapshot>>;

/** The rules for attempts. An action that is not idempotent is never retried automatically. */
export const ExecutionRules = z.strictObject({
  idempotent: z.boolean(),
  maxAttempts: z.number().int().positive(),
  /** The time after its first start in which an idempotent action may be retried. */
  retryForMs: z.number().int(),
  /** Whether its caller runs it itself: it is started by the caller alone, once. */
  elsewhere: z.literal(true).optional(),
});
export type ExecutionRules = Readonly<z.infer<typeof ExecutionRules>>;

/** The sources of Runs that no conversation made. */
const RunSource = z.enum(['manifest']);
export type RunSource = z.infer<typeof RunSource>;

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
  /** The names of its tool and its policy, for logs and metrics. */
  readonly labels?: { readonly tool: string; readonly policy: string };
  /** The trace that the request belongs to, as a W3C `traceparent`. */
  readonly trace?: string | undefined;
  /** Opens the request for a call that ran without approval and whose outcome is unknown. Resolvers are asked, and nobody votes. */
  readonly unsigned?: boolean;
  /** The name under which the limits of such a call have counted it. */
  readonly action?: string;
  /** Counters of first times for when such a call ran. */
  readonly done?: readonly { readonly key: string; readonly windowMs: number }[];
  /** The plan that it is a step of. */
  readonly step?: PlanPlace;
  /** The steps of a plan, in order: requests of the same turn with their digests, and which of them are asked by themselves too. */
  readonly steps?: readonly { readonly id: string; readonly digest: string; readonly alone?: true }[];
}

/** A new request from a source that is no thread. Its id names the channel of its card in place of one. */
export interface NewRun extends NewRequest {
  readonly from: RunSource;
}

/** The place of a request in a plan, whose approval covers it; one that is `alone` needs its own too, and waits there for its turn. */
export interface PlanPlace {
  /** The id of the plan's request. */
  readonly plan: string;
  /** From 1. */
  readonly number: number;
  readonly alone: boolean;
}

/** How far a step of a plan is: the state of its request, what a person found out about its outcome, or that nobody chose it. */
const StepState = z.union([RequestState, z.enum(['ran', 'did-not-run', 'skipped'])]);
export type StepState = z.infer<typeof StepState>;

/** A step as its plan knows it. */
export interface PlanStep {
  readonly id: string;
  readonly number: number;
  readonly digest: string;
  /** Whether the plan does not cover it. */
  readonly alone: boolean;
  readonly state: StepState;
  /** Whether it is among those that are to be approved, or were. */
  readonly isChosen: boolean;
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

interface RecordedVote {
  readonly who: string;
  readonly decision: 'approve' | 'reject';
  readonly at: number;
  /** The numbers of the approver groups, from 1; only where the policy has groups. */
  readonly groups?: readonly number[];
  /** The approver in whose place the person voted. */
  readonly standsFor?: string;
  /** Whether the person allows the same again. */
  readonly grants?: true;
  /** The words of the person. */
  readonly reason?: string;
  /** The proof that the person's passkey signed. */
  readonly proof?: JsonObject;
}

/** A place of the card. */
interface RecordedView {
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
  /** When the latest attempt was started. */
  readonly startedAt?: number;
  readonly progress: string | undefined;
  readonly views: readonly RecordedView[];
  /** The last cause beside the request itself for which its cards were drawn again. */
  readonly redrawnFor?: string;
  /** The state of its undo; `undefined` if none was offered yet. */
  readonly undo: (UndoNote & { readonly step: UndoStep }) | undefined;
  /** Where it comes from; missing where a thread made it. */
  readonly from?: RunSource;
  /** The plan that it is a step of. */
  readonly step?: PlanPlace;
  /** The steps, if it is a plan. */
  readonly steps?: readonly PlanStep[];
  /** The numbers of the steps or the choice that approvers have chosen, if they had to or left some out. */
  readonly chosen?: readonly number[];
  /** The names of its tool and its policy, for logs and metrics. */
  readonly labels?: { readonly tool: string; readonly policy: string };
  /** The trace that the request belongs to, as a W3C `traceparent`. */
  readonly trace: string | undefined;
}

const Decision = z.enum(['approve', 'reject']);
const Count = z.coerce.number().int().nonnegative();
const Stored = z.object({
  v: z.literal(String(REQUEST_VERSION)),
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
  started_at: Count.optional(),
  progress: z.string().optional(),
  views: z.string(),
  redrawn_for: z.string().optional(),
  granted: z.string().optional(),
  trace: z.string().optional(),
  from: RunSource.optional(),
});

type Hash = Readonly<Record<string, string>>;

/**
 * An Ask and the Run that it is about, as Redis holds them. A question about no call has an empty Run, as has a plan, which is about several;
 * a Run that a plan covers has an empty Ask.
 */
export interface StoredRequest {
  readonly ask: Hash;
  readonly run: Hash;
  /** The Ask of the plan that covers it. */
  readonly plan?: Hash | undefined;
  /** Those that a plan is about, in order. */
  readonly steps?: readonly StoredRequest[];
}

const AskState = z.enum([
  'open',
  'approved',
  'answered',
  'rejected',
  'expired',
  'withdrawn',
  'replaced',
  // Its card could not be shown to anybody.
  'failed',
]);
const RunState = z.enum([
  'waiting',
  'ready',
  'running',
  'paused',
  'succeeded',
  'failed',
  'unknown',
  'cancelled',
]);
/** Says how far an approved call is. One that waits has its own approval, and not yet that of its plan. */
const CALLED: Readonly<Record<string, RequestState>> = {
  waiting: 'approved',
  ready: 'approved',
  running: 'started',
};

/** The fields of a plan's Ask that are about the plan and not about its Runs. */
const OF_PLAN =
  /^(?:v|state|rev|by|payload|settled_at|tool|digest|runs|chosen|views|redrawn_for|granted|(?:view|stands|drawn|refused|refusals|grant):.*)$/;

/** Tells whether a Run rests on the Ask of its plan alone. */
export function isCovered(run: Hash): run is Hash & { readonly plan: string } {
  return run.plan !== undefined && run.alone === undefined;
}

/** Joins an Ask with its Run; its state is one word for both: how far people are, and then how far the call is. */
function joined({ ask, run, plan }: StoredRequest): Hash {
  const called = () => {
    const state = readPart('state of its Run', () => RunState.parse(run.state));
    return run.confirmed === '1' && state !== 'running' ? 'resolved' : state;
  };
  if (isCovered(run)) {
    const terms = Object.fromEntries(Object.entries(plan ?? {}).filter(([name]) => !OF_PLAN.test(name)));
    const state = called();
    const word = state === 'waiting' ? 'pending' : state === 'cancelled' ? run.code : CALLED[state];
    return { ...terms, ...run, state: word ?? state };
  }
  const { by, payload, settled_at, ...others } = run;
  const asked = readPart('state', () => AskState.parse(ask.state));
  if (asked !== 'approved')
    return {
      ...ask,
      ...others,
      state: asked === 'open' ? 'pending' : asked === 'replaced' ? 'superseded' : asked,
    };
  // A plan ends with its last Run.
  if (ask.runs !== undefined)
    return { ...ask, state: ask.settled_at === undefined ? 'approved' : 'succeeded' };
  const state = called();
  return { ...ask, ...run, state: CALLED[state] ?? state };
}

/** Parses an Ask with its Run and its immutable record; an error names the part that does not fit. */
export function parseRequestRecord(id: string, request: StoredRequest, record: string | null): RequestRecord {
  const fields = joined(request);
  const stored = Stored.parse(fields);
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
    details: readPart('record', () => JsonRecord.parse(JSON.parse(record ?? ''))),
    policy: readPart('policy', () => PolicySnapshot.parse(policyIn(fields))),
    execution: readPart('execution', () => ExecutionRules.parse(executionIn(fields))),
    principals: words(stored.principals),
    createdAt: stored.created,
    expiresAt: stored.expires,
    decidedAt: stored.decided_at,
    settledAt: stored.settled_at,
    by: stored.by,
    payload: stored.payload,
    ...(stored.redrawn_for !== undefined && { redrawnFor: stored.redrawn_for }),
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
    ...(stored.started_at !== undefined && { startedAt: stored.started_at }),
    progress: stored.progress,
    views: words(stored.views).map((view) => parseView(view, fields)),
    undo: parseUndo(fields),
    ...parsePlan(id, fields, request.steps),
    ...(stored.from !== undefined && { from: stored.from }),
    trace: stored.trace,
  };
}

/** Reads the place of a step in its plan, or the steps of a plan. */
function parsePlan(
  id: string,
  { plan, number, alone, runs, chosen }: Hash,
  steps: readonly StoredRequest[] = [],
): Pick<RequestRecord, 'step' | 'steps' | 'chosen'> {
  const numbers = chosen === undefined ? undefined : words(chosen).map(Number);
  return {
    ...(numbers !== undefined && { chosen: numbers }),
    ...(plan !== undefined && { step: { plan, number: Number(number), alone: alone === '1' } }),
    ...(runs !== undefined && {
      steps: words(runs).map((interrupt, index): PlanStep => {
        const step = { id: requestIdOf(threadOf(id) ?? '', interrupt), number: index + 1 };
        const known = steps[index];
        return { ...step, ...readPart(`step ${step.number}`, () => parseStep(step.number, known, numbers)) };
      }),
    }),
  };
}

/** Reads the verdict on an outcome that was unknown and its reason; the record has one below the other. */
export function resolutionOf(payload = ''): { readonly verdict: string; readonly reason: string } {
  const [verdict = '', ...reason] = payload.split('\n');
  return { verdict, reason: reason.join('\n') };
}

/** Reads how far a step is; one that cannot be found holds its plan. */
function parseStep(
  number: number,
  step: StoredRequest | undefined,
  chosen: readonly number[] | undefined,
): Pick<PlanStep, 'digest' | 'alone' | 'state' | 'isChosen'> {
  const fields: Hash = step?.run.plan === undefined ? { state: 'superseded' } : joined(step);
  const { digest = '', payload = '' } = fields;
  const state = RequestState.parse(fields.state);
  const { verdict } = resolutionOf(payload);
  const alone = fields.alone === '1';
  const isSkipped = !alone && state === 'rejected' && payload === 'not-chosen';
  return {
    digest,
    alone,
    state: StepState.parse(state === 'resolved' ? verdict : isSkipped ? 'skipped' : state),
    isChosen: alone || chosen === undefined || chosen.includes(number),
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
  const { start_within: startWithin, groups, excluded, delegation, passkey } = fields;
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
    ...(passkey === '1' && { passkey: true }),
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
    ...(fields.elsewhere !== undefined && { elsewhere: true }),
  };
}

function parseVote(who: string, fields: Readonly<Record<string, string>>): RecordedVote {
  const read = <Part>(name: string, schema: z.ZodType<Part>) =>
    readPart(`${name}:${who}`, () => schema.parse(fields[`${name}:${who}`]));
  const groups = fields[`groups:${who}`];
  const standsFor = fields[`for:${who}`];
  const proof = fields[`proof:${who}`];
  const reason = fields[`reason:${who}`];
  return {
    who,
    decision: read('vote', Decision),
    at: read('at', Count),
    ...(groups !== undefined && { groups: words(groups).map(Number) }),
    ...(standsFor !== undefined && standsFor !== '' && { standsFor }),
    ...(fields[`grant:${who}`] === '1' && { grants: true as const }),
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(proof !== undefined && {
      proof: readPart(`proof:${who}`, () => JsonRecord.parse(JSON.parse(proof))),
    }),
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

/** Describes an error in one line, with the path of each zod issue. */
export function describeReadError(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
      .join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Reads one part of a record; an error names the part. */
export function readPart<Part>(name: string, read: () => Part): Part {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${describeReadError(error)}`, { cause: error });
  }
}
