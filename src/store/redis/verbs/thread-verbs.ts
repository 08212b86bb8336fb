import { randomUUID } from 'node:crypto';
import { canonicalJson, type JsonObject, toJson } from '../../../agent/json.ts';
import { readMessages } from '../../../agent/messages.ts';
import type {
  Actor,
  EnqueueOptions,
  EnqueueResult,
  InboxItem,
  OutboxRow,
  Store,
  TurnFailure,
} from '../../port/store.ts';
import { interruptOf, isThreadId, type Keys, requestIdOf, threadOf } from '../../record/keys.ts';
import {
  describeReadError,
  type NewRequest,
  REQUEST_VERSION,
  RequestRules,
} from '../../record/request-record.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { countFields, doneFields, keptDone, readRefusal } from './policy/limit-verbs.ts';
import { readClaim, readClaimedTurn, readItem, readSuspended } from './read-turn.ts';

/** The time for which ended requests and idle threads stay in Redis. */
export interface Retention {
  readonly requestMs: number;
  readonly threadMs: number;
}

type ThreadVerbs = Pick<
  Store,
  | 'enqueue'
  | 'claimTurn'
  | 'renewLease'
  | 'release'
  | 'unquarantine'
  | 'startEffect'
  | 'countCall'
  | 'finishEffect'
  | 'stop'
  | 'waitingIn'
  | 'readThread'
  | 'suspend'
  | 'retire'
>;

/** The verbs about a whole thread. */
export function threadVerbs(
  run: RunScript,
  client: RedisClient,
  keys: Keys,
  retention: () => Retention,
): ThreadVerbs {
  return {
    async enqueue(threadId, item, options = {}) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const { leaseMs, stops } = options;
      const stop = stops === undefined ? ['', '', ''] : stopFields(run, stops);
      const args = [...itemFields(item, options), ...stop];
      if (leaseMs === undefined) {
        const reply = new ScriptReply(await run('enqueue', { threadId, args: [...args, '', 0] }));
        return readEnqueued(reply, options);
      }
      const claim = { threadId, args: [...args, randomUUID(), leaseMs] };
      const { reply: raw, log } = await run.withLog('enqueue', claim);
      const reply = new ScriptReply(raw);
      if (reply.code === 'waiting')
        return { outcome: 'waiting', requestIds: reply.strings(1).map((id) => requestIdOf(threadId, id)) };
      const enqueued = readEnqueued(reply);
      if (enqueued.outcome !== 'enqueued') return enqueued;
      return { ...enqueued, turn: await readClaimedTurn(run, threadId, reply.after(4), log) };
    },

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
      const args = failure === undefined ? [''] : failureFields(run, threadId, failure);
      const reply = new ScriptReply(await run('release', { threadId, args: [token, ...args] }));
      return { outcome: reply.oneOf('released', 'failed', 'quarantined', 'stale') };
    },

    async unquarantine(threadId, evidence) {
      if (!isThreadId(threadId)) return { outcome: 'not-quarantined' };
      const reply = new ScriptReply(await run('unquarantine', { threadId, args: run.auditBody(evidence) }));
      return { outcome: reply.oneOf('unquarantined', 'not-quarantined') };
    },

    async startEffect({ threadId, token }, start) {
      const { ref, tool, run: id, logged, read, messages, evidence } = start;
      const texts = messages.map((message) => JSON.stringify(message));
      const fields = [...countFields(run, start), texts.length, ...texts];
      const args = [token, ref, id, logged, read, ...run.auditBody(evidence), tool, ...fields];
      const reply = new ScriptReply(await run('start-effect', { threadId, args }));
      if (reply.code === 'started') return { outcome: 'started', used: reply.number(2) };
      return readRefusal(reply) ?? { outcome: reply.oneOf('stale', 'finished', 'frozen', 'stopped') };
    },

    async countCall(threadId, call) {
      const args = [call.ref, ...countFields(run, call)];
      const reply = new ScriptReply(await run('count-call', { threadId, args }));
      return readRefusal(reply) ?? { outcome: reply.oneOf('counted'), used: reply.number(1) };
    },

    async finishEffect({ threadId, token }, { ref, run: id, end, part, evidence, done }) {
      const body = run.auditBody(evidence);
      const args = [token, ref, id, end, JSON.stringify(part), ...body, ...doneFields(done)];
      const reply = new ScriptReply(await run('finish-effect', { threadId, args }));
      return { outcome: reply.oneOf('finished', 'stale') };
    },

    async stop(threadId, stopper) {
      if (!isThreadId(threadId)) return { outcome: 'idle' };
      const args = stopFields(run, stopper);
      const reply = new ScriptReply(await run('stop', { threadId, args }));
      return { outcome: reply.oneOf('stopping', 'idle') };
    },

    async waitingIn(threadId) {
      if (!isThreadId(threadId)) return [];
      const round = await client.hgetall(keys.round(threadId));
      return Object.keys(round)
        .filter((interruptId) => round[interruptId] === 'pending')
        .map((interruptId) => requestIdOf(threadId, interruptId));
    },

    async readThread(threadId, { inboxOnly = false } = {}) {
      if (!isThreadId(threadId)) return { messages: [], inbox: [], seen: [] };
      // The inbox comes first: what moves into the log meanwhile is then in both, and not in neither.
      const inbox = await client.lrange(keys.inbox(threadId), 0, -1);
      if (inboxOnly) return { messages: [], inbox: inbox.map(readItem), seen: [] };
      const [log, seen, isQuarantined] = await Promise.all([
        client.lrange(keys.log(threadId), 0, -1),
        client.zrange(keys.seen(threadId), '0', '-1'),
        client.hexists(keys.thread(threadId), 'quarantine'),
      ]);
      const read = { messages: readMessages(log), inbox: inbox.map(readItem), seen };
      return isQuarantined === 1 ? { ...read, isQuarantined: true } : read;
    },

    async suspend({ threadId, token }, { messages, read, requests = [], rows = [] }) {
      const foreign = requests.find(({ id }) => threadOf(id) !== threadId);
      if (foreign !== undefined) return { outcome: 'foreign-request', requestId: foreign.id };
      const ids = requests.map(({ id }) => id);
      const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
      if (repeated !== undefined) return { outcome: 'existing-request', requestId: repeated };
      for (const request of requests) {
        const { error } = RequestRules.safeParse(request);
        if (error !== undefined)
          return { outcome: 'invalid-request', requestId: request.id, problem: describeReadError(error) };
      }
      const { threadMs, requestMs } = retention();
      const args = [
        token,
        read,
        threadMs,
        ...counted(messages.map((message) => [JSON.stringify(message)])),
        ...counted(rows.map((row) => [row.id, rowText(run, row)])),
        ...counted(requests.map((request) => requestFields(run, request, requestMs))),
      ];
      const reply = new ScriptReply(await run('suspend', { threadId, requestIds: ids, args }));
      return readSuspended(threadId, ids, reply);
    },

    async retire(threadId, { early = false } = {}) {
      const reply = new ScriptReply(await run('retire', { threadId, args: [early ? 1 : 0] }));
      return { outcome: reply.oneOf('retired', 'not-due', 'in-use') };
    },
  };
}

/** Writes a message for the outbox, to be sent in the trace of the work that writes it. */
export function rowText(run: RunScript, { body }: OutboxRow): string {
  const trace = run.trace();
  return JSON.stringify(trace === undefined ? body : { ...body, trace });
}

function itemFields(
  { id, body }: InboxItem,
  { onlyKnown = false, bodyAtWork }: EnqueueOptions,
): (string | number)[] {
  const atWork = bodyAtWork === undefined ? '' : canonicalJson({ id, body: bodyAtWork });
  return [id, canonicalJson({ id, body }), onlyKnown ? 1 : 0, atWork];
}

function failureFields(
  run: RunScript,
  threadId: string,
  { mostFailures, delayMs, reason, notices }: TurnFailure,
): (string | number)[] {
  const rows = counted(notices.map(({ id, body }) => [id, JSON.stringify(body)]));
  return [mostFailures, delayMs, reason, ...run.auditBody({ threadId, reason }), ...rows];
}

function stopFields(run: RunScript, { who, evidence }: Omit<Actor, 'eligible'>): string[] {
  return [who, ...run.auditBody(evidence)];
}

function readEnqueued(reply: ScriptReply, { stops }: Pick<EnqueueOptions, 'stops'> = {}): EnqueueResult {
  if (reply.code !== 'enqueued') return { outcome: reply.oneOf('duplicate', 'unknown-thread') };
  return {
    outcome: 'enqueued',
    waiting: reply.number(1),
    place: reply.number(2),
    busy: reply.string(3) === '1',
    ...(stops !== undefined && { stop: { token: reply.string(4) || undefined, at: reply.number(5) } }),
  };
}

function counted(entries: readonly (readonly (string | number)[])[]): (string | number)[] {
  return [entries.length, ...entries.flat()];
}

/** Writes a new request in the order in which `suspend.lua` reads it. */
function requestFields(run: RunScript, request: NewRequest, keptMs: number): (string | number)[] {
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
  // Nobody is asked about a step by itself, so it is in no list and has no timers.
  const isCovered = step?.alone === false;
  const isTimed = !unsigned && !isCovered;
  const asked = isCovered ? [] : unsigned ? policy.resolvers : policy.principals;
  return [
    id,
    JSON.stringify(details),
    unsigned ? 'unknown' : isCovered ? 'step' : kind,
    isCovered ? '' : requesters.join(' '),
    asked.join(' '),
    expiresInMs,
    isTimed ? remindEveryMs : '',
    isTimed ? (escalate?.afterMs ?? '') : '',
    ...run.auditBody({
      ...{ ...audit, ...planOf(request) },
      ...{ requester, requesters: [...requesters], digest, policy: toJson(policy) },
    }),
    ...counted(views.map((view) => [view.id])),
    ...hashFields({ ...request, trace: request.trace ?? run.trace() }, keptMs),
  ];
}

/** Lets the log alone tell which steps a plan has, and which plan a step is of. */
function planOf({ step, steps }: NewRequest): JsonObject {
  return {
    ...(step !== undefined && { plan: { ...step } }),
    ...(steps !== undefined && { steps: toJson(steps) }),
  };
}

/** Writes the hash of a new request, counted. Rare fields are left out where they do not apply, because many requests wait. */
function hashFields(
  {
    kind,
    requester,
    requesters = [requester],
    barred = [],
    digest,
    policy,
    execution,
    views = [],
    unsigned = false,
    action,
    done,
    labels,
    trace,
    step,
    steps,
  }: NewRequest,
  keptMs: number,
): (string | number)[] {
  const { principals, resolvers, quorum, vetoes, selfApproval, remindEveryMs, escalate, startWithinMs } =
    policy;
  const { groups, excluded = [] } = policy;
  const { idempotent, maxAttempts, retryForMs, elsewhere } = execution;
  const state = unsigned ? 'unknown' : 'pending';
  const fields: (string | number)[] = ['v', REQUEST_VERSION, 'state', state, 'rev', 1, 'kind', kind];
  if (unsigned) fields.push('unsigned', 1, 'attempts', 1);
  if (action !== undefined) fields.push('action', action);
  if (done !== undefined && done.length > 0) fields.push('done', keptDone(done));
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
  if (step !== undefined) fields.push('plan', step.plan, 'step', step.number);
  if (step?.alone === true) fields.push('alone', 1);
  if (steps !== undefined)
    fields.push('steps', steps.map((each) => `${interruptOf(each.id)}:${each.digest}`).join(' '));
  if (idempotent) fields.push('idempotent', 1);
  if (maxAttempts !== 1) fields.push('max_attempts', maxAttempts);
  if (retryForMs !== 0) fields.push('retry_for', retryForMs);
  if (elsewhere === true) fields.push('elsewhere', 1);
  fields.push('views', views.map((view) => view.id).join(' '));
  for (const view of views) fields.push(`view:${view.id}`, JSON.stringify(view.place));
  return [fields.length, ...fields];
}
