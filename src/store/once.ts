import type { RedisClient } from './run-script.ts';

/** Remembers keys for a while, for all processes: the first to show one is told so, and nobody after it. */
export function onceIn(
  client: RedisClient,
  prefix = 'countersign:',
): (key: string, ttlMs: number) => Promise<boolean> {
  return async (key, ttlMs) => (await client.set(`${prefix}once:${key}`, '1', 'PX', ttlMs, 'NX')) === 'OK';
}
