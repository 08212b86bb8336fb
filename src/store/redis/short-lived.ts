import { refusalOf } from '../errors.ts';
import { DEFAULT_PREFIX, keyStart } from '../port/keys.ts';
import type { UpdateCounter, UpdateCounts } from '../port/workspace.ts';
import type { RedisClient } from './run-script.ts';

/** Counts in windows that begin with their first update and end by Redis's clock, so that the clocks of processes do not matter. */
export function updateCounterIn(
  client: RedisClient,
  windowMs: number,
  prefix = DEFAULT_PREFIX,
): UpdateCounter {
  const start = keyStart(prefix);
  const keys = { updates: `${start}updates`, progress: `${start}progress` };
  return {
    async add(kind) {
      const results = await client
        .multi()
        .set(keys.updates, 0, 'PX', windowMs, 'NX')
        .set(keys.progress, 0, 'PX', windowMs, 'NX')
        .incr(keys[kind])
        .mget(keys.updates, keys.progress)
        .exec();
      const counts = results?.at(-1)?.[1];
      const [updates = 0, progress = 0] = Array.isArray(counts) ? counts.map(Number) : [];
      return { updates, progress } satisfies UpdateCounts;
    },
  };
}

/** Remembers keys for a while, for all processes: returns true only for the first use of a key. */
export function onceIn(
  client: RedisClient,
  prefix = DEFAULT_PREFIX,
): (key: string, ttlMs: number) => Promise<boolean> {
  return async (key, ttlMs) =>
    (await client.set(`${keyStart(prefix)}once:${key}`, '1', 'PX', ttlMs, 'NX')) === 'OK';
}

const WRITE_KEY_MS = 60_000;

/** Tries to write, and returns Redis's code if it answers and refuses; throws if it does not answer. */
export async function refusedWrite(client: RedisClient, prefix?: string): Promise<string | undefined> {
  try {
    await onceIn(client, prefix)('is-writable', WRITE_KEY_MS);
    return undefined;
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    return code;
  }
}
