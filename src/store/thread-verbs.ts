import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, type JsonObject, toJson } from '../agent/json.ts';
import { type Message, parseMessage } from '../agent/messages.ts';
import { isThreadId, type Keys, requestIdOf, threadOf } from './keys.ts';
import type { InboxItem, Settlement, Store, TakenTurn, TakeResult } from './port.ts';
import { problemOf, readPart } from './problem-of.ts';
import { type NewRequest, REQUEST_VERSION, RequestRules, SettledState } from './request-record.ts';
import type { RedisClient, RunScript } from './run-script.ts';
import { Answer, statement } from './said.ts';
import { setAside } from './set-aside.ts';

const ThreadRecord = z.strictObject({ v: z.literal('1') });
const Item = z.strictObject({
  id: z.string(),
  body: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
});

/** How long things are kept in Redis after they are settled. */
export interface Retention {
  readonly requestMs: number;
  readonly threadMs: number;
}

type ThreadVerbs = Pick<Store, 'put' | 'take' | 'renew' | 'stop' | 'waitingIn' | 'suspend' | 'retire'>;

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
      const args = [item.id, canonicalJson({ ...item }), onlyKnown ? 1 : 0];
      const said = new Answer(await run('put', { threadId, args }));
      if (said.code !== 'put') return { outcome: z.enum(['duplicate', 'unknown-thread']).parse(said.code) };
      return { outcome: 'put', waiting: said.number(1), place: said.number(2), busy: said.word(3) === '1' };
    },

    async take(threadId, leaseMs) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const said = new Answer(await run('take', { threadId, args: [randomUUID(), leaseMs] }));
      switch (said.code) {
        case 'taken':
          return readTurn(run, threadId, said);
        case 'busy':
          return { outcome: 'busy', until: said.number(1) };
        case 'waiting':
          return { outcome: 'waiting', requests: said.number(1) };
        case 'quarantined':
          return { outcome: 'quarantined', reason: said.word(1) };
        default:
          return { outcome: 'idle' };
      }
    },

    async renew({ threadId, token }, leaseMs) {
      const said = new Answer(await run('renew', { threadId, args: [token, leaseMs] }));
      return { outcome: z.enum(['renewed', 'stopped', 'stale']).parse(said.code) };
    },

    async stop(threadId) {
      if (!isThreadId(threadId)) return { outcome: 'idle' };
      const said = new Answer(await run('stop', { threadId, args: [] }));
      return { outcome: z.enum(['stopping', 'idle']).parse(said.code) };
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
      return { outcome: z.enum(['retired', 'not-due', 'in-use']).parse(said.code) };
    },
  };
}

function counted(entries: readonly (readonly (string | number)[])[]): (string | number)[] {
  return [entries.length, ...entries.flat()];
}

/** The fields of a new request in the order in which `suspend.lua` reads them. */
function requestFields(request: NewRequest, keptMs: number): (string | number)[] {
  const { id, kind, requester, digest, details, policy, execution, views = [] } = request;
  return [
    id,
    JSON.stringify({ v: REQUEST_VERSION, details, policy, execution }),
    kind,
    requester,
    digest,
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
    execution.maxAttempts,
    execution.retryForMs,
    keptMs,
    ...counted(views.map((view) => [view.id, JSON.stringify(view.place)])),
    ...statement({ requester, digest, policy: toJson(policy) }),
  ];
}

/** A record that cannot be read sets its own thread aside and harms no other. */
async function readTurn(run: RunScript, threadId: string, said: Answer): Promise<TakeResult> {
  try {
    return { outcome: 'taken', turn: parseTurn(threadId, said) };
  } catch (error) {
    return {
      outcome: 'quarantined',
      reason: await setAside(run, threadId, 'The record of this thread', error),
    };
  }
}

function parseTurn(threadId: string, said: Answer): TakenTurn {
  ThreadRecord.parse({ v: said.word(5) });
  return {
    threadId,
    token: said.word(1),
    messages: said.list(2).map((row, index): Message => parseMessage(JSON.parse(row), index)),
    inbox: said.list(3).map((row): InboxItem => Item.parse(JSON.parse(row))),
    settled: parseSettled(threadId, said.list(4)),
  };
}

function parseSettled(threadId: string, pairs: readonly string[]): Settlement[] {
  return pairs.flatMap((interruptId, index) => {
    const value = pairs[index + 1];
    if (index % 2 === 1 || value === undefined) return [];
    const requestId = requestIdOf(threadId, interruptId);
    const [state = '', by = '', ...payload] = value.split('\n');
    const known = readPart(`The state of ${requestId}`, () => SettledState.parse(state));
    return [{ requestId, state: known, by, payload: payload.join('\n') }];
  });
}
