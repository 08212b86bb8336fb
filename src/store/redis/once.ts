import type { RedisClient } from './run-script.ts';

/** Remembers keys for a while, for all processes: returns true only for the first use of a key. */
export function onceIn(
  client: RedisClient,
  prefix = 'countersign:',
): (key: string, ttlMs: number) => Promise<boolean> {
  return async (key, ttlMs) => (await client.set(`${prefix}once:${key}`, '1', 'PX', ttlMs, 'NX')) === 'OK';
}
