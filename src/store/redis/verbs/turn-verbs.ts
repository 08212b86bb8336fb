import { randomUUID } from 'node:crypto';
import { type JsonObject, toJson } from '../../../agent/json.ts';
import { interruptOf, isThreadId, threadOf } from '../../port/keys.ts';
import {
  describeReadError,
  type NewRequest,
  type NewRun,
  type NewView,
  REQUEST_VERSION,
  RequestRules,
  type RunSource,
} from '../../port/request-record.ts';
import type { Store } from '../../port/store.ts';
import type { TurnFailure } from '../../port/values.ts';
import { type Named, pack, type RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { rowText } from './outbox-verbs.ts';
import { keptDone } from './policy/limit-verbs.ts';
import { readClaim, readSuspended } from './read-turn.ts';

/** Names and values of a hash, one after the other. */
type Fields = readonly (string | number)[];

/** The time for which ended requests and idle threads stay in Redis. */
export interface Retention {
  readonly requestMs: number;
  readonly threadMs: number;
}

type TurnVerbs = Pick<Store, 'claimTurn' | 'renewLease' | 'release' | 'suspend' | 'open'>;

/** The verbs of a turn, from its claim to its end, and what opens the request of another source. */
export function turnVerbs(run: RunScript, retention: () => Retention): TurnVerbs {
  return {
    async claimTurn(threadId, leaseMs) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const { reply, log } = await run.withLog('claim-turn', { threadId, args: [randomUUID(), leaseMs] });
      return readClaim(run, threadId, new ScriptReply(reply), log);
    },

    async renewLease({ threadId, token }, leaseMs) {
      const reply = new ScriptReply(await run('renew-lease', { threadId, args: [token, leaseMs] }));
      return { outcome: reply.oneOf('renewed', 'held', 'stopped', 'stale') };
    },

    async release({ threadId, token }, failure) {
      const failed = failure === undefined ? {} : failureValues(run, threadId, failure);
      const args = [pack({ token, ...failed })];
      const reply = new ScriptReply(await run('release', { threadId, args }));
      return { outcome: reply.oneOf('released', 'failed', 'quarantined', 'stale') };
    },

    async suspend({ threadId, token }, { messages, read, requests = [], rows = [] }) {
      const foreign = requests.find(({ id }) => threadOf(id) !== threadId);
      if (foreign !== undefined) return { outcome: 'foreign-request', requestId: foreign.id };
      const ids = requests.map(({ id }) => id);
      const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
      if (repeated !== undefined) return { outcome: 'existing-request', requestId: repeated };
      for (const request of requests) {
        const { error } = RequestRules.safeParse(request);
        const problem = error === undefined ? placeProblem(request, requests) : describeReadError(error);
        if (problem !== undefined) return { outcome: 'invalid-request', requestId: request.id, problem };
      }
      const { threadMs, requestMs } = retention();
      const values = pack({
        token,
        read,
        keep: threadMs,
        messages: messages.map((message) => JSON.stringify(message)),
        rows: rows.map((row) => [row.id, rowText(run, row)]),
        requests: requests.map((request) => requestValues(run, request, requestMs)),
      });
      const reply = new ScriptReply(await run('suspend', { threadId, requestIds: ids, args: [values] }));
      return readSuspended(threadId, ids, reply);
    },

    async open(request, former = '') {
      const { id } = request;
      const threadId = threadOf(id) ?? '';
      const { error } = RequestRules.safeParse(request);
      const problem = error === undefined ? problemOfIds(id, former) : describeReadError(error);
      if (problem !== undefined) return { outcome: 'invalid-request', requestId: id, problem };
      const values = { request: requestValues(run, request, retention().requestMs), former };
      const requestIds = former === '' ? [id] : [id, former];
      const reply = new ScriptReply(await run('open', { threadId, requestIds, args: [pack(values)] }));
      return { outcome: reply.oneOf('opened', 'not-due') };
    },
  };
}

function problemOfIds(id: string, former: string): string | undefined {
  const isWrong = threadOf(id) === undefined || (former !== '' && threadOf(former) === undefined);
  return isWrong ? 'its id, or that of the one before it, is malformed' : undefined;
}

function failureValues(
  run: RunScript,
  threadId: string,
  { mostFailures, delayMs, reason, notices }: TurnFailure,
): Named {
  const [body, digest] = run.auditBody({ threadId, reason });
  const rows = notices.map((notice) => [notice.id, JSON.stringify(notice.body)]);
  return { most: mostFailures, delay: delayMs, reason, notices: rows, body, digest };
}

/** Says why a step cannot rest on its plan: the plan is opened in the same turn, by the same people, and lists it. */
function placeProblem({ id, step, requester, requesters }: NewRequest, all: readonly NewRequest[]) {
  if (step === undefined) return undefined;
  const plan = all.find((request) => request.id === step.plan);
  const listed = plan?.steps?.[step.number - 1];
  const isSame = String(plan?.requesters ?? plan?.requester) === String(requesters ?? requester);
  return listed?.id === id && (listed.alone === true) === step.alone && isSame
    ? undefined
    : 'its plan does not list it';
}

/** Writes a new request as `suspend.lua` and `open.lua` read it. */
function requestValues(run: RunScript, request: NewRequest | NewRun, keptMs: number): Named {
  const {
    id,
    kind,
    requester,
    requesters = [requester],
    digest,
    details,
    policy,
    views = [],
    audit = {},
    unsigned = false,
    step,
  } = request;
  const { expiresInMs, remindEveryMs = '', escalate } = policy;
  const isCovered = step?.alone === false;
  const isTimed = !unsigned && !isCovered;
  const asked = isCovered ? [] : unsigned ? policy.resolvers : policy.principals;
  const [body, bodyDigest] = run.auditBody({
    ...audit,
    ...planOf(request),
    requester,
    requesters: [...requesters],
    digest,
    policy: toJson(policy),
    ...('from' in request && { from: request.from }),
  });
  return {
    id,
    record: JSON.stringify(details),
    kind: unsigned ? 'unknown' : isCovered ? 'step' : kind,
    ...(step !== undefined && { plan: step.plan, number: step.number }),
    requesters: requesters.join(' '),
    asked: asked.join(' '),
    expires: expiresInMs,
    remind: isTimed ? remindEveryMs : '',
    escalate: isTimed ? (escalate?.afterMs ?? '') : '',
    body,
    digest: bodyDigest,
    views: views.map((view) => view.id),
    ask: isCovered ? [] : askFields({ ...request, trace: request.trace ?? run.trace() }, keptMs),
    run: runFields(request, 'from' in request ? request.from : undefined),
  };
}

/** Lets the log alone tell which steps a plan has, and which plan a step is of. */
function planOf({ step, steps }: NewRequest): JsonObject {
  return {
    ...(step !== undefined && { plan: { ...step } }),
    ...(steps !== undefined && { steps: toJson(steps) }),
  };
}

/** Writes the Run of a new request; only an approval is about one, and a plan is about those of its steps. */
function runFields(request: NewRequest, from: RunSource | undefined): Fields {
  const { kind, execution, unsigned = false, action, done, labels, step, steps } = request;
  if ((kind !== 'approval' && !unsigned) || steps !== undefined) return [];
  const { idempotent, maxAttempts, retryForMs, elsewhere } = execution;
  const fields: (string | number)[] = ['v', REQUEST_VERSION, 'state', unsigned ? 'unknown' : 'waiting'];
  if (unsigned) fields.push('attempts', 1);
  if (labels !== undefined) fields.push('tool', labels.tool);
  if (action !== undefined) fields.push('action', action);
  if (done !== undefined && done.length > 0) fields.push('done', keptDone(done));
  if (idempotent) fields.push('idempotent', 1);
  if (maxAttempts !== 1) fields.push('max_attempts', maxAttempts);
  if (retryForMs !== 0) fields.push('retry_for', retryForMs);
  if (elsewhere === true) fields.push('elsewhere', 1);
  if (step !== undefined) fields.push('plan', step.plan, 'number', step.number);
  if (step?.alone === true) fields.push('alone', 1);
  if (step?.alone === false) fields.push(...ownFields(request));
  if (from !== undefined) fields.push('from', from);
  return fields;
}

/** Writes what a Run without an Ask has of its own: what people say of it is said of its plan. */
function ownFields({ digest, policy, views = [] }: NewRequest): Fields {
  return ['rev', 1, 'digest', digest, 'resolvers', policy.resolvers.join(' '), ...viewFields(views)];
}

function viewFields(views: readonly NewView[]): Fields {
  const places = views.flatMap((view) => [`view:${view.id}`, JSON.stringify(view.place)]);
  return ['views', views.map((view) => view.id).join(' '), ...places];
}

/** Writes the Ask of a new request. Rare fields are left out where they do not apply, because many requests wait. */
function askFields(
  {
    kind,
    requester,
    requesters = [requester],
    barred = [],
    digest,
    policy,
    views = [],
    unsigned = false,
    labels,
    trace,
    steps,
  }: NewRequest,
  keptMs: number,
): Fields {
  const { principals, resolvers, quorum, vetoes, selfApproval, remindEveryMs, escalate, startWithinMs } =
    policy;
  const { groups, excluded = [] } = policy;
  // Nobody approved a call that needed no approval; people are asked what became of it.
  const state = unsigned ? 'approved' : 'open';
  const fields: (string | number)[] = ['v', REQUEST_VERSION, 'state', state, 'rev', 1, 'kind', kind];
  if (unsigned) fields.push('unsigned', 1);
  fields.push('requester', requester, 'digest', digest, 'quorum', quorum, 'vetoes', vetoes, 'keep', keptMs);
  fields.push('principals', principals.join(' '), 'resolvers', resolvers.join(' '));
  if (requesters.length > 1) fields.push('requesters', requesters.join(' '));
  if (barred.length > 0) fields.push('barred', barred.join(' '));
  if (selfApproval) fields.push('self', 1);
  if (remindEveryMs !== undefined) fields.push('remind_every', remindEveryMs);
  if (escalate !== undefined)
    fields.push('escalate_after', escalate.afterMs, 'escalate_to', escalate.to.join(' '));
  if (startWithinMs !== undefined) fields.push('start_within', startWithinMs);
  if (groups !== undefined)
    fields.push('groups', groups.map(({ any, quorum: own }) => `${own}:${any.join(',')}`).join(' '));
  if (excluded.length > 0) fields.push('excluded', excluded.join(' '));
  if (policy.delegation === true) fields.push('delegation', 1);
  if (policy.passkey === true) fields.push('passkey', 1);
  if (labels !== undefined) fields.push('tool', labels.tool, 'policy', labels.policy);
  if (trace !== undefined) fields.push('trace', trace);
  if (steps !== undefined) fields.push('runs', steps.map(({ id }) => interruptOf(id)).join(' '));
  return [...fields, ...viewFields(views)];
}
