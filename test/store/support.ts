import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type Message, type ToolPart, userMessage } from '../../src/agent/messages.ts';
import { requestIdOf } from '../../src/store/port/keys.ts';
import type {
  ExecutionRules,
  NewRequest,
  NewRun,
  PolicySnapshot,
} from '../../src/store/port/request-record.ts';
import type { Store } from '../../src/store/port/store.ts';
import type {
  Actor,
  Attempt,
  ClaimedTurn,
  EffectFinish,
  EffectStart,
  Outcome,
  TurnEnd,
  Vote,
} from '../../src/store/port/values.ts';
import type { GrantOffer, GrantRecord, NewFreeze, UnfreezeVote } from '../../src/store/port/workspace.ts';

export const MINUTE_MS = 60_000;

/** Two approvers, one signature, an hour's time; an action that is never tried twice by itself. */
export const POLICY: PolicySnapshot = {
  principals: ['U-ann', 'U-ben'],
  resolvers: ['U-ops'],
  quorum: 1,
  vetoes: 1,
  selfApproval: false,
  expiresInMs: 60 * MINUTE_MS,
};
export const EXECUTION: ExecutionRules = { idempotent: false, maxAttempts: 3, retryForMs: 60 * MINUTE_MS };

export interface RequestChanges extends Partial<Omit<NewRequest, 'id' | 'policy' | 'execution'>> {
  readonly policy?: Partial<PolicySnapshot>;
  readonly execution?: Partial<ExecutionRules>;
}

/** A request of this thread with an id of its own; what a test is about is all that it has to name. */
export function newRequest(
  threadId: string,
  changes: RequestChanges = {},
  interruptId: string = randomUUID(),
): NewRequest {
  const { policy, execution, ...others } = changes;
  return {
    id: requestIdOf(threadId, interruptId),
    kind: 'approval',
    requester: 'U-rita',
    digest: 'digest-1',
    details: { tool: 'refund_order', input: { order: 'A-1', amount: 1200 } },
    ...others,
    policy: { ...POLICY, ...policy },
    execution: { ...EXECUTION, ...execution },
  };
}

export function newThreadId(): string {
  return `T-${randomUUID()}`;
}

/** Takes a thread that must be free, after saying something in it. */
export async function beginTurn(store: Store, threadId: string, leaseMs = MINUTE_MS): Promise<ClaimedTurn> {
  await store.enqueue(threadId, { id: randomUUID(), body: { text: 'hello' } });
  return takeTurn(store, threadId, leaseMs);
}

/** Takes a thread in which something waits to be read. */
export async function takeTurn(store: Store, threadId: string, leaseMs = MINUTE_MS): Promise<ClaimedTurn> {
  const taken = await store.claimTurn(threadId, leaseMs);
  if (taken.outcome !== 'claimed') throw new Error(`The thread ${threadId} is ${taken.outcome}`);
  return taken.turn;
}

/** Opens a request in a thread of its own and gives its id. */
export async function ask(store: Store, changes: RequestChanges = {}): Promise<string> {
  const threadId = newThreadId();
  const request = newRequest(threadId, changes);
  await suspendTurn(store, await beginTurn(store, threadId), { requests: [request] });
  return request.id;
}

/** A request that no thread made; its card is in a channel. */
export function newRun(interruptId: string = randomUUID(), changes: RequestChanges = {}): NewRun {
  return { ...newRequest('C-policies', changes, interruptId), from: 'manifest' };
}

/** Opens a Run that no thread made, and ends it by a rejection. */
export async function openAndReject(store: Store, run: NewRun = newRun()): Promise<string> {
  await store.open(run);
  await store.vote(run.id, reject('U-ann'));
  return run.id;
}

/** Ends a turn that has read its whole inbox. */
export async function suspendTurn(
  store: Store,
  turn: ClaimedTurn,
  end: Partial<TurnEnd> = {},
): Promise<void> {
  const result = await store.suspend(turn, { messages: [], read: turn.inbox.length, ...end });
  if (result.outcome !== 'suspended') throw new Error(`The turn is ${result.outcome}`);
}

/** A click by somebody who may. */
export function actor(who: string, changes: Partial<Actor> = {}): Actor {
  return { who, eligible: true, evidence: { click: randomUUID() }, ...changes };
}

/** The end of a request by one who asked for it. */
export function withdrawal(who: string, reason = '') {
  return { state: 'withdrawn', ...actor(who), reason } as const;
}

export function approve(who: string, changes: Partial<Vote> = {}): Vote {
  return { ...actor(who), decision: 'approve', shown: 'digest-1', ...changes };
}

export function reject(who: string, changes: Partial<Vote> = {}): Vote {
  return approve(who, { decision: 'reject', reason: 'not today', ...changes });
}

/** A try by a worker for which everybody who signed still counts. */
export function attempt(name: string, changes: Partial<Attempt> = {}): Attempt {
  return {
    attempt: name,
    tool: 'refund_order',
    digest: 'digest-1',
    heartbeatTimeoutMs: MINUTE_MS,
    stillEligible: ['U-ann', 'U-ben'],
    evidence: {},
    ...changes,
  };
}

export function outcome(name: string, changes: Partial<Outcome> = {}): Outcome {
  return { attempt: name, state: 'succeeded', message: resultMessage(), summary: 'refunded', ...changes };
}

export function resultMessage(output = 'refunded'): Message {
  return {
    v: 1,
    role: 'tool',
    content: [{ toolResponse: { name: 'refund_order', ref: 'call-1', output }, status: 'ok' }],
  };
}

/** The result of a call that ran without approval. */
export function effectPart(ref: string): ToolPart {
  return { toolResponse: { name: 'refund_order', ref, output: 'refunded' }, status: 'ok' };
}

export function effectStart(ref: string, changes: Partial<EffectStart> = {}): EffectStart {
  return {
    ref,
    tool: 'refund_order',
    run: 'first',
    logged: 0,
    messages: [message('hello')],
    read: 1,
    evidence: {},
    ...changes,
  };
}

export function effectFinish(ref: string, changes: Partial<EffectFinish> = {}): EffectFinish {
  return { ref, run: 'first', end: 'succeeded', part: effectPart(ref), evidence: {}, ...changes };
}

export function message(text: string): Message {
  return userMessage(text);
}

/** Opens a request, has it approved and begun; the attempt is named `first`. */
export async function askAndStart(
  store: Store,
  changes: RequestChanges = {},
  started: Partial<Attempt> = {},
): Promise<string> {
  const requestId = await ask(store, changes);
  await store.vote(requestId, approve('U-ann'));
  const result = await store.start(requestId, attempt('first', started));
  if (result.outcome !== 'started') throw new Error(`The request is ${result.outcome}`);
  return requestId;
}

/** Opens a request whose only attempt has fallen silent, so that nobody knows what became of it. */
export async function askAndLose(
  store: Store,
  changes: RequestChanges = {},
  started: Partial<Attempt> = {},
): Promise<string> {
  const requestId = await askAndStart(store, changes, { ...started, heartbeatTimeoutMs: 0 });
  await store.recover(requestId);
  return requestId;
}

/** Opens a request of an idempotent action whose first attempt has fallen silent, so that it is due again. */
export async function askAndRetry(store: Store, changes: RequestChanges = {}): Promise<string> {
  const execution = { ...changes.execution, idempotent: true };
  const requestId = await askAndStart(store, { ...changes, execution }, { heartbeatTimeoutMs: 0 });
  const { outcome } = await store.recover(requestId);
  if (outcome !== 'retry') throw new Error(`The request is ${outcome}`);
  return requestId;
}

/** The state of a request that must be on record. */
export async function stateOf(store: Store, requestId: string): Promise<string> {
  return (await found(store, requestId)).state;
}

/** A request that must be on record. */
export async function found(store: Store, requestId: string) {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found') throw new Error(`The request ${requestId} is ${loaded.outcome}`);
  return loaded.request;
}

/** A client that, once told to, sends every script twice and gives the second reply, as after a lost reply. */
export function resending(client: Redis): { readonly client: Redis; twice: boolean } {
  const resending = { client, twice: false };
  resending.client = new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const send = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (!String(name).startsWith('eval') || !resending.twice) return send;
      return async (...args: unknown[]) => {
        await send(...args);
        return send(...args);
      };
    },
  });
  return resending;
}

/** A freeze by an admin. */
export function newFreeze(scope: string, changes: Partial<NewFreeze> = {}): NewFreeze {
  return { scope, id: randomUUID(), who: 'U-ann', reason: 'too many', evidence: {}, ...changes };
}

/** The wish of one who may end a freeze alone. */
export function unfreezeVote(scope: string, changes: Partial<UnfreezeVote> = {}): UnfreezeVote {
  return {
    ...{ scope, id: randomUUID(), who: 'U-ann', eligible: true, quorum: 1, reason: '' },
    stillEligible: [],
    evidence: {},
    ...changes,
  };
}

/** Opens a grant: somebody approves a request, and allows the same again. */
export async function openGrant(store: Store, changes: Partial<GrantOffer> = {}): Promise<void> {
  const grants = { id: 'g-1', uses: 1, forMs: MINUTE_MS, details: { tool: 'refund_order' }, ...changes };
  const voted = await store.vote(await ask(store), approve('U-ann', { grants }));
  if (voted.outcome !== 'voted' || voted.state !== 'approved')
    throw new Error(`The vote is ${voted.outcome}`);
}

export async function findGrant(store: Store, id: string): Promise<GrantRecord | undefined> {
  return (await store.listGrants()).find((grant) => grant.id === id);
}
