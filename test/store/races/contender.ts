import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { LimitUse } from '../../../src/store/port/limits.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { actor, attempt, newFreeze } from '../support.ts';

/** The part of a process in one round. */
export type Act =
  | { readonly kind: 'start'; readonly requestId: string; readonly use?: LimitUse }
  | { readonly kind: 'use'; readonly grant: string; readonly call: string }
  | { readonly kind: 'freeze'; readonly shards: readonly number[] }
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

/** Reserves, starts, and gives back what did not start, as the bot does. */
async function start(store: Store, requestId: string, use: LimitUse | undefined): Promise<Answer> {
  const name = `process-${process.pid}`;
  if (use !== undefined && (await store.reserve(requestId, name, [use])).outcome === 'over')
    return { outcome: 'over' };
  const { outcome } = await store.start(requestId, attempt(name));
  if (use !== undefined && outcome !== 'started') await store.giveBack(requestId, [use.key], name);
  return { outcome };
}

async function perform(store: Store, act: Act): Promise<Answer> {
  switch (act.kind) {
    case 'start':
      return start(store, act.requestId, act.use);
    case 'use':
      return { outcome: (await store.useGrant(act.grant, act.call, {})).outcome };
    case 'freeze': {
      const { outcome } = await store.freeze(newFreeze('*'));
      await store.spreadFreezes([...act.shards]);
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
