import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';

/** A connection to the run's Redis and a prefix that no other test has; `close` also deletes the keys that contain it. */
export type TestRedis = { client: Redis; url: string; prefix: string; close(): Promise<void> };

/** Connects to the run's Redis, which tests share: every key of a test must contain its prefix. */
export function connectTestRedis(): TestRedis {
  const url = inject('redisUrl');
  const client = new Redis(url);
  const prefix = `test-${randomUUID()}:`;
  return {
    client,
    url,
    prefix,
    async close() {
      for await (const keys of client.scanStream({ match: `*${prefix}*`, count: 1000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
      await client.quit();
    },
  };
}
