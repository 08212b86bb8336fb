import { DEFAULT_PREFIX, Keys } from '../port/keys.ts';
import type { Store } from '../port/store.ts';
import { type RecordHooks, type RedisClient, scriptRunner } from './run-script.ts';
import { loadScripts, type Scripts } from './scripts.ts';
import { auditVerbs } from './verbs/audit-verbs.ts';
import { documentVerbs, fileVerbs } from './verbs/document-verbs.ts';
import { effectVerbs } from './verbs/effect-verbs.ts';
import { listVerbs } from './verbs/list-verbs.ts';
import { outboxVerbs } from './verbs/outbox-verbs.ts';
import { freezeVerbs } from './verbs/policy/freeze-verbs.ts';
import { grantVerbs } from './verbs/policy/grant-verbs.ts';
import { limitVerbs } from './verbs/policy/limit-verbs.ts';
import { requestVerbs } from './verbs/request-verbs.ts';
import { runVerbs } from './verbs/run-verbs.ts';
import { threadVerbs } from './verbs/thread-verbs.ts';
import { timerVerbs } from './verbs/timer-verbs.ts';
import { type Retention, turnVerbs } from './verbs/turn-verbs.ts';
import { usageVerbs } from './verbs/usage-verbs.ts';

export interface RedisStoreOptions extends RecordHooks {
  readonly client: RedisClient;
  readonly prefix?: string;
  /** Read for each turn that ends, since the manifest may have been reloaded. */
  readonly retention?: () => Retention;
  readonly scripts?: Scripts;
  /** The most bytes of files that a thread keeps. */
  readonly mostFileBytes?: number;
}

const DAY_MS = 86_400_000;
export const DEFAULT_RETENTION: Retention = { requestMs: 30 * DAY_MS, threadMs: 30 * DAY_MS };

/** Opens the record on a connection, and closes the connection with it. */
export function openRedisStore(options: RedisStoreOptions): Store {
  const {
    client,
    prefix = DEFAULT_PREFIX,
    retention = () => DEFAULT_RETENTION,
    scripts = loadScripts(),
  } = options;
  const keys = new Keys(prefix);
  const run = scriptRunner(client, keys, scripts, options);
  return {
    ...threadVerbs(run, client, keys),
    ...turnVerbs(run, retention),
    ...effectVerbs(run),
    ...requestVerbs(run, client, keys),
    ...runVerbs(run),
    ...timerVerbs(run),
    ...outboxVerbs(run, client, keys),
    ...fileVerbs(run, client, keys, options.mostFileBytes),
    ...listVerbs(run, client, keys),
    ...auditVerbs(run, client, keys),
    ...freezeVerbs(run, client, keys),
    ...grantVerbs(run, client, keys),
    ...limitVerbs(run),
    ...usageVerbs(run, client, keys),
    ...documentVerbs(run, client, keys, retention),
    async close() {
      await client.quit();
    },
  };
}
