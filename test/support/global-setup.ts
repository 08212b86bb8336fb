import type { TestProject } from 'vitest/node';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
  }
}

/** Brings up one Redis for the whole run and returns what stops it; a run without Redis fails here, with the ways out. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await bringUpRedis({ log: (line) => process.stdout.write(`${line}\n`) });
  project.provide('redisUrl', redis.url);
  return redis.stop;
}
