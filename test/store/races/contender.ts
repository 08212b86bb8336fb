import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Store } from '../../../src/store/port/store.ts';
import type { LimitUse } from '../../../src/store/port/workspace.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { actor, approve, attempt, newFreeze, withdrawal } from '../support.ts';

/** Everybody who may approve in a race. */
const APPROVERS: readonly string[] = ['U-ann', ...Array.from({ length: 20 }, (_, index) => `U-${index}`)];

/** The part of a process in one round. */
export type Act =
  | { readonly kind: 'start'; readonly requestId: string; readonly use?: LimitUse }
  | { readonly kind: 'use'; readonly grant: string; readonly call: string }
  | { readonly kind: 'approve' | 'edit' | 'withdraw'; readonly requestId: string; readonly who: string }
  | { readonly kind: 'freeze' }
  | { readonly kind: 'revoke'; readonly grant: string };

/** An act, and the moment at which all processes begin. */
export interface Order {
  readonly at: number;
  readonly act: Act;
}

/** The answer of the record: of a freeze also what runs, of a revocation the uses there were. */
export interface Answer {
  readonly outcome: string;
  readonly running?: readonly string[];
  readonly used?: number;
}

/** Starts an action that counts against a limit. */
async function start(store: Store, requestId: string, use: LimitUse | undefined): Promise<Answer> {
  const counts = { action: requestId, limits: use === undefined ? [] : [use] };
  const { outcome } = await store.start(
    requestId,
    attempt(`process-${process.pid}`, { counts, stillEligible: APPROVERS }),
  );
  return { outcome };
}

/** Approves, and starts at once what is approved with that. */
async function approveAndStart(store: Store, requestId: string, who: string): Promise<Answer> {
  const started = attempt(`process-${process.pid}`, { stillEligible: APPROVERS });
  const voted = await store.vote(requestId, approve(who), started);
  const begun = voted.outcome === 'voted' ? voted.started : undefined;
  return { outcome: begun?.outcome ?? voted.outcome };
}

/** Ends a request as an edit does: what is asked for then is another request. */
async function edit(store: Store, requestId: string, who: string): Promise<Answer> {
  const reason = JSON.stringify({ code: 'edited', by: who, input: { amount: process.pid } });
  return { outcome: (await store.end(requestId, { state: 'superseded', reason })).outcome };
}

async function useGrant(store: Store, id: string, call: string): Promise<Answer> {
  const counted = await store.countCall('T-1', { ref: call, grant: { id, call, evidence: {} } });
  return { outcome: counted.outcome === 'ungranted' ? counted.reason : counted.outcome };
}

async function perform(store: Store, act: Act): Promise<Answer> {
  switch (act.kind) {
    case 'start':
      return start(store, act.requestId, act.use);
    case 'approve':
      return approveAndStart(store, act.requestId, act.who);
    case 'edit':
      return edit(store, act.requestId, act.who);
    case 'withdraw':
      return { outcome: (await store.end(act.requestId, withdrawal(act.who))).outcome };
    case 'use':
      return useGrant(store, act.grant, act.call);
    case 'freeze': {
      const { outcome } = await store.freeze(newFreeze('*'));
      return { outcome, running: (await store.listRunning()).requestIds };
    }
    case 'revoke': {
      const revoked = await store.revokeGrant(act.grant, actor('U-ann'));
      return { outcome: revoked.outcome, ...('used' in revoked && { used: revoked.used }) };
    }
  }
}

const [url, prefix] = process.argv.slice(2);
if (url === undefined || prefix === undefined) throw new Error('Usage: contender <redis url> <prefix>');
const store = openRedisStore({ client: new Redis(url), prefix });
process.on('message', ({ at, act }: Order) => {
  void sleep(Math.max(0, at - Date.now()))
    .then(() => perform(store, act))
    .then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
