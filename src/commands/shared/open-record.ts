import { describeMissing } from '../../settings.ts';
import { DEFAULT_PREFIX } from '../../store/port/keys.ts';
import type { Store } from '../../store/port/store.ts';
import { connectRedis } from '../../store/redis/connect.ts';
import { RedisEnvironment } from '../../store/redis/redis-settings.ts';
import { openRedisStore } from '../../store/redis/redis-store.ts';
import type { RedisClient } from '../../store/redis/run-script.ts';
import { type CommandContext, Failure } from './command.ts';

const TIMEOUT_MS = 5_000;

export interface OpenedRecord {
  readonly store: Store;
  readonly client: RedisClient;
  readonly prefix: string;
}

/** Opens the record for one command and closes it afterwards, also after an error. */
export async function withRecord<Result>(
  { environment, prefix: given }: CommandContext,
  work: (record: OpenedRecord) => Promise<Result>,
): Promise<Result> {
  const settings = RedisEnvironment.safeParse(withoutEmpty(environment));
  if (!settings.success) {
    const [issue] = settings.error.issues;
    const name = issue?.path.join('.') ?? 'REDIS_URL';
    throw new Failure(
      (environment[name] ?? '') === ''
        ? `${describeMissing(name, environment)}; put it into .env`
        : `${name} ${issue?.message}`,
    );
  }
  const prefix = given ?? settings.data.prefix ?? DEFAULT_PREFIX;
  const client = await connectRedis(settings.data, { patienceMs: TIMEOUT_MS });
  const store = openRedisStore({ client, prefix });
  try {
    return await work({ store, client, prefix });
  } finally {
    await store.close();
  }
}

/** Removes variables that are set to an empty text; they count as not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}
