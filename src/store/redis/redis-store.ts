import type { Store } from '../port/store.ts';
import { Keys } from '../record/keys.ts';
import { type Redact, type RedisClient, scriptRunner } from './run-script.ts';
import { loadScripts, type Scripts } from './scripts.ts';
import { auditVerbs } from './verbs/audit/audit-verbs.ts';
import { fileVerbs } from './verbs/file-verbs.ts';
import { listVerbs } from './verbs/list-verbs.ts';
import { measureVerbs } from './verbs/measure-verbs.ts';
import { memoryVerbs } from './verbs/memory-verbs.ts';
import { outboxVerbs } from './verbs/outbox-verbs.ts';
import { connectionVerbs } from './verbs/policy/connection-verbs.ts';
import { delegationVerbs } from './verbs/policy/delegation-verbs.ts';
import { digestVerbs } from './verbs/policy/digest-verbs.ts';
import { freezeVerbs } from './verbs/policy/freeze-verbs.ts';
import { grantVerbs } from './verbs/policy/grant-verbs.ts';
import { limitVerbs } from './verbs/policy/limit-verbs.ts';
import { manifestVerbs } from './verbs/policy/manifest-verbs.ts';
import { requestVerbs } from './verbs/request-verbs.ts';
import { type Retention, threadVerbs } from './verbs/thread-verbs.ts';
import { timerVerbs } from './verbs/timer-verbs.ts';
import { usageVerbs } from './verbs/usage-verbs.ts';

export interface RedisStoreOptions {
  readonly client: RedisClient;
  readonly prefix?: string;
  /** Read for each turn that ends, since the manifest may have been reloaded. */
  readonly retention?: () => Retention;
  readonly scripts?: Scripts;
  /** The most bytes of files that a thread keeps. */
  readonly mostFileBytes?: number;
  /** Removes secrets from everything that enters the audit log. */
  readonly redact?: Redact;
}

const DAY_MS = 86_400_000;
export const DEFAULT_RETENTION: Retention = { requestMs: 30 * DAY_MS, threadMs: 30 * DAY_MS };

/** Opens the record on a connection, and closes the connection with it. */
export function openRedisStore(options: RedisStoreOptions): Store {
  const {
    client,
    prefix = 'countersign:',
    retention = () => DEFAULT_RETENTION,
    scripts = loadScripts(),
  } = options;
  const keys = new Keys(prefix);
  const run = scriptRunner(client, keys, scripts, options.redact);
  return {
    ...threadVerbs(run, client, keys, retention),
    ...requestVerbs(run, client, keys),
    ...timerVerbs(run),
    ...outboxVerbs(run),
    ...fileVerbs(run, client, keys, options.mostFileBytes),
    ...listVerbs(client, keys),
    ...auditVerbs(run, client, keys),
    ...freezeVerbs(run, client, keys),
    ...delegationVerbs(run, client, keys),
    ...digestVerbs(run, client, keys),
    ...grantVerbs(run, client, keys),
    ...limitVerbs(run, keys),
    ...usageVerbs(run, client, keys),
    ...connectionVerbs(run, client, keys),
    ...memoryVerbs(run, client, { keys, prefix, retention }),
    ...measureVerbs(run),
    ...manifestVerbs(run, client, keys),
    async close() {
      await client.quit();
    },
  };
}
