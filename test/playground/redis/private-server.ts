import { onTestFinished } from 'vitest';
import { thisMachine } from '../../../playground/install/machine.ts';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { type BringUpRedisOptions, bringUpRedis } from '../../../playground/redis/bring-up-redis.ts';
import { obtainServer } from '../../../playground/redis/obtain-server.ts';

/** The environment of this run without REDIS_URL, so that a private server is started. */
export function privateEnv(): NodeJS.ProcessEnv {
  const { REDIS_URL: _hidden, ...env } = process.env;
  return env;
}

/** The path of a real server, installed if the machine has none. */
export function realServer(): Promise<string> {
  return obtainServer(privateEnv(), thisMachine(), () => {});
}

/** Starts a Redis that is stopped when the test ends. */
export async function bringUpForTest(options: BringUpRedisOptions) {
  const redis = await bringUpRedis({ env: privateEnv(), ...options });
  onTestFinished(() => redis.stop());
  return redis;
}

/** Reads one setting of a running server. */
export function setting(url: string, name: string): Promise<string | undefined> {
  return askRedis(url, async (client) => {
    const reply = await client.call('CONFIG', 'GET', name);
    return Array.isArray(reply) ? String(reply[1]) : undefined;
  });
}

/** True when a server answers a PING there. */
export async function answers(url: string): Promise<boolean> {
  return askRedis(url, (client) => client.ping()).then(
    () => true,
    () => false,
  );
}
