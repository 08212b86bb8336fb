import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { type ConnectOptions, connectRedis } from '../../../src/store/redis/connect.ts';
import type { RedisSettings } from '../../../src/store/redis/redis-settings.ts';
import type { RedisClient } from '../../../src/store/redis/run-script.ts';

export const QUICK: ConnectOptions = { patienceMs: 1500 };
/** A password that no error may show. */
export const PASSWORD = 'S3CRET@with:odd/signs';
export const USER_INFO = `app:${encodeURIComponent(PASSWORD)}`;

/** The settings of one server. */
export function single(url: string): RedisSettings {
  return { mode: 'single', urls: [url] };
}

/** Connects for one test. */
export async function connected(settings: RedisSettings, options = QUICK): Promise<RedisClient> {
  const client = await connectRedis(settings, options);
  onTestFinished(() => client.disconnect());
  return client;
}

/** The error of something that must fail; nothing that hangs on it may hold the password. */
export async function errorOf(doing: Promise<unknown>): Promise<string> {
  const error = await doing.then(
    () => new Error('It went well'),
    (reason: unknown) => reason,
  );
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/S3CRET/);
  return error instanceof Error ? error.message : String(error);
}
