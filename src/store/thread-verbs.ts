import { randomUUID } from 'node:crypto';
import { canonicalJson, toJson } from '../agent/json.ts';
import { isThreadId, type Keys, requestIdOf, threadOf } from './keys.ts';
import type { InboxItem, PutResult, Store } from './port.ts';
import { problemOf } from './problem-of.ts';
import { readGivenTurn, readTake } from './read-turn.ts';
import { type NewRequest, RequestRules } from './request-record.ts';
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

/** The fields of a new request in the order in which `suspend.lua` reads them. */
function requestFields(request: NewRequest, keptMs: number): (string | number)[] {
  const { id, kind, requester, digest, ground = '', details, policy, execution, views = [] } = request;
  return [
    id,
    JSON.stringify(details),
    kind,
    requester,
    digest,
    ground,
    policy.quorum,
    policy.vetoes,
    policy.selfApproval ? 1 : '',
    policy.principals.join(' '),
    policy.resolvers.join(' '),
    policy.expiresInMs,
    policy.remindEveryMs ?? '',
    policy.escalate?.afterMs ?? '',
    policy.escalate?.to.join(' ') ?? '',
    execution.idempotent ? 1 : '',
    execution.maxAttempts === 1 ? '' : execution.maxAttempts,
    execution.retryForMs === 0 ? '' : execution.retryForMs,
    keptMs,
    ...counted(views.map((view) => [view.id, JSON.stringify(view.place)])),
    ...statement({ requester, digest, ground, policy: toJson(policy) }),
  ];
}
