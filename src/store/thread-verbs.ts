import { randomUUID } from 'node:crypto';
import { canonicalJson, toJson } from '../agent/json.ts';
import { isThreadId, type Keys, requestIdOf, threadOf } from './keys.ts';
import type { InboxItem, PutResult, Store } from './port.ts';
import { problemOf } from './problem-of.ts';
import { readGivenTurn, readTake } from './read-turn.ts';
import { type NewRequest, REQUEST_VERSION, RequestRules } from './request-record.ts';
import type { RedisClient, RunScript } from './run-script.ts';
import { Answer, statement } from './said.ts';

/** How long things are kept in Redis after they are settled. */
export interface Retention {
  readonly requestMs: number;
  readonly threadMs: number;
}

type ThreadVerbs = Pick<
  Store,
  'put' | 'take' | 'putAndTake' | 'renew' | 'stop' | 'waitingIn' | 'suspend' | 'retire'
>;

/** What happens to a thread as a whole. */
export function threadVerbs(
  run: RunScript,
  client: RedisClient,
  keys: Keys,
  retention: Retention,
): ThreadVerbs {
  return {
    async put(threadId, item, { onlyKnown = false } = {}) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      return readPut(new Answer(await run('put', { threadId, args: itemFields(item, onlyKnown) })));
    },

    async take(threadId, leaseMs) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const { said, log } = await run.withLog('take', { threadId, args: [randomUUID(), leaseMs] });
      return readTake(run, threadId, new Answer(said), log);
    },

    async putAndTake(threadId, item, { leaseMs, onlyKnown = false }) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const args = [...itemFields(item, onlyKnown), randomUUID(), leaseMs];
      const answer = await run.withLog('put-take', { threadId, args });
      const said = new Answer(answer.said);
      if (said.code === 'waiting') {
        return { outcome: 'waiting', requestIds: said.words(1).map((id) => requestIdOf(threadId, id)) };
      }
      const put = readPut(said);
      if (put.outcome !== 'put') return put;
      return { ...put, turn: await readGivenTurn(run, threadId, said.after(4), answer.log) };
    },

    async renew({ threadId, token }, leaseMs) {
      const said = new Answer(await run('renew', { threadId, args: [token, leaseMs] }));
      return { outcome: said.oneOf('renewed', 'stopped', 'stale') };
    },

    async stop(threadId) {
      if (!isThreadId(threadId)) return { outcome: 'idle' };
      const said = new Answer(await run('stop', { threadId, args: [] }));
      return { outcome: said.oneOf('stopping', 'idle') };
    },

    async waitingIn(threadId) {
      if (!isThreadId(threadId)) return [];
      const round = await client.hgetall(keys.round(threadId));
      return Object.keys(round)
        .filter((interruptId) => round[interruptId] === 'pending')
        .map((interruptId) => requestIdOf(threadId, interruptId));
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
          return { outcome: 'invalid-request', requestId: request.id, problem: problemOf(error) };
      }
      const args = [
        token,
        read,
        retention.threadMs,
        ...counted(messages.map((message) => [JSON.stringify(message)])),
        ...counted(rows.map(({ id, body }) => [id, JSON.stringify(body)])),
        ...counted(requests.map((request) => requestFields(request, retention.requestMs))),
      ];
      const said = new Answer(await run('suspend', { threadId, requestIds: ids, args }));
      switch (said.code) {
        case 'suspended':
          return { outcome: 'suspended', waiting: said.number(1) };
        case 'existing':
          return { outcome: 'existing-request', requestId: ids[said.number(1)] ?? '' };
        default:
          return { outcome: 'stale' };
      }
    },

    async retire(threadId) {
      const said = new Answer(await run('retire', { threadId, args: [] }));
      return { outcome: said.oneOf('retired', 'not-due', 'in-use') };
    },
  };
}

function itemFields(item: InboxItem, onlyKnown: boolean): (string | number)[] {
  return [item.id, canonicalJson({ ...item }), onlyKnown ? 1 : 0];
}

function readPut(said: Answer): PutResult {
  if (said.code !== 'put') return { outcome: said.oneOf('duplicate', 'unknown-thread') };
  return { outcome: 'put', waiting: said.number(1), place: said.number(2), busy: said.word(3) === '1' };
}

function counted(entries: readonly (readonly (string | number)[])[]): (string | number)[] {
  return [entries.length, ...entries.flat()];
}

/** A new request in the order in which `suspend.lua` reads it. */
function requestFields(request: NewRequest, keptMs: number): (string | number)[] {
  const { id, kind, requester, digest, ground = '', details, policy, views = [] } = request;
  const { expiresInMs, remindEveryMs = '', escalate } = policy;
  return [
    id,
    JSON.stringify(details),
    kind,
    requester,
    policy.principals.join(' '),
    expiresInMs,
    remindEveryMs,
    escalate?.afterMs ?? '',
    ...statement({ requester, digest, ground, policy: toJson(policy) }),
    ...counted(views.map((view) => [view.id])),
    ...hashFields(request, keptMs),
  ];
}

/** What is kept of a new request in its hash, counted; what few requests have is not written for the others, since many wait. */
function hashFields(
  { kind, requester, digest, ground, policy, execution, views = [] }: NewRequest,
  keptMs: number,
): (string | number)[] {
  const { principals, resolvers, quorum, vetoes, selfApproval, remindEveryMs, escalate } = policy;
  const { idempotent, maxAttempts, retryForMs } = execution;
  const fields: (string | number)[] = ['v', REQUEST_VERSION, 'state', 'pending', 'rev', 1, 'kind', kind];
  fields.push('requester', requester, 'digest', digest, 'quorum', quorum, 'vetoes', vetoes, 'keep', keptMs);
  fields.push('principals', principals.join(' '), 'resolvers', resolvers.join(' '));
  if (ground !== undefined) fields.push('ground', ground);
  if (selfApproval) fields.push('self', 1);
  if (remindEveryMs !== undefined) fields.push('remind_every', remindEveryMs);
  if (escalate !== undefined)
    fields.push('escalate_after', escalate.afterMs, 'escalate_to', escalate.to.join(' '));
  if (idempotent) fields.push('idempotent', 1);
  if (maxAttempts !== 1) fields.push('max_attempts', maxAttempts);
  if (retryForMs !== 0) fields.push('retry_for', retryForMs);
  fields.push('views', views.map((view) => view.id).join(' '));
  for (const view of views) fields.push(`view:${view.id}`, JSON.stringify(view.place));
  return [fields.length, ...fields];
}
