import { DEFAULT_PREFIX, keyStart } from '../record/keys.ts';
import type { RedisClient } from './run-script.ts';

/** Remembers keys for a while, for all processes: returns true only for the first use of a key. */
export function onceIn(
  client: RedisClient,
  prefix = DEFAULT_PREFIX,
): (key: string, ttlMs: number) => Promise<boolean> {
  return async (key, ttlMs) =>
    (await client.set(`${keyStart(prefix)}once:${key}`, '1', 'PX', ttlMs, 'NX')) === 'OK';
}
