import { auditVerbs } from './audit-verbs.ts';
import { Keys } from './keys.ts';
import { listVerbs } from './list-verbs.ts';
import { outboxVerbs } from './outbox-verbs.ts';
import type { Store } from './port.ts';
import { requestVerbs } from './request-verbs.ts';
import { type RedisClient, scriptRunner } from './run-script.ts';
import { loadScripts, type Scripts } from './scripts.ts';
import { type Retention, threadVerbs } from './thread-verbs.ts';
import { timerVerbs } from './timer-verbs.ts';

export interface RedisStoreOptions {
  readonly client: RedisClient;
  readonly prefix?: string;
  readonly retention?: Retention;
  readonly scripts?: Scripts;
}

const DAY_MS = 86_400_000;
export const DEFAULT_RETENTION: Retention = { requestMs: 30 * DAY_MS, threadMs: 30 * DAY_MS };

/** Opens the record on a connection, which it closes when it is closed itself. */
export function openRedisStore(options: RedisStoreOptions): Store {
  const { client, prefix = 'countersign:', retention = DEFAULT_RETENTION, scripts = loadScripts() } = options;
  const keys = new Keys(prefix);
  const run = scriptRunner(client, keys, scripts);
  return {
    ...threadVerbs(run, client, keys, retention),
    ...requestVerbs(run, client, keys),
    ...timerVerbs(run),
    ...outboxVerbs(run),
    ...listVerbs(client, keys),
    ...auditVerbs(run, client, keys),
    async close() {
      await client.quit();
    },
  };
}
