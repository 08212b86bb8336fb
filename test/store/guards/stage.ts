import type { Redis } from 'ioredis';
import { Keys } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import type { Scripts } from '../../../src/store/redis/scripts.ts';
import { resending } from '../support.ts';

/** The fixture of a scenario. */
export interface Stage {
  readonly client: Redis;
  readonly keys: Keys;
  readonly store: Store;
  /** The same record, in which whatever is settled need not be kept. */
  readonly fleeting: Store;
  /** The same record over a connection that loses the first reply to every script and sends it again. */
  readonly resending: Store;
}

/** Shows what a guard is for: it passes with the guard and fails without it. */
export type Scenario = (stage: Stage) => Promise<void>;
export type Scenarios = Readonly<Record<string, Scenario>>;

export function openStage(client: Redis, prefix: string, scripts: Scripts): Stage {
  const lossy = resending(client);
  lossy.twice = true;
  return {
    client,
    keys: new Keys(prefix),
    store: openRedisStore({ client, prefix, scripts, mostFileBytes: 100 }),
    fleeting: openRedisStore({ client, prefix, scripts, retention: () => ({ requestMs: 0, threadMs: 0 }) }),
    resending: openRedisStore({ client: lossy.client, prefix, scripts }),
  };
}
