import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';

/** Starts a Redis for one measure; figures are only true of a server that holds nothing else. */
export function startPrivateRedis(options: { persistent?: boolean } = {}) {
  return bringUpRedis({ ...options, env: { ...process.env, REDIS_URL: '' } });
}
