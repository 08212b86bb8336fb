import { z } from 'zod';

/** The address of Redis. `urls` may hold credentials, so they are never shown as they are. */
export interface RedisSettings {
  readonly mode: 'single' | 'sentinel' | 'cluster';
  readonly urls: readonly string[];
  /** The name under which the Sentinels know the master. */
  readonly sentinelName?: string;
  /** For Sentinels with their own credentials; those in the URLs are for Redis itself. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  /** Prefix of all keys of the workspace; each workspace on the same Redis has its own. */
  readonly prefix?: string;
}

const Text = z.string().min(1);

/** The environment variables for Redis; docs/settings.md is made from it. */
export const RedisVariables = z.object({
  REDIS_URL: Text.describe(
    'The address of Redis 7 or Valkey, such as `redis://127.0.0.1:6379`; `rediss://` for TLS. Several, separated by commas, for Sentinel and Cluster.',
  ),
  REDIS_MODE: z
    .enum(['single', 'sentinel', 'cluster'], 'must be single, sentinel or cluster')
    .optional()
    .describe('What the address leads to (default: single).'),
  REDIS_SENTINEL_NAME: Text.optional().describe('For Sentinel: the name of the master.'),
  REDIS_SENTINEL_USERNAME: Text.optional().describe('For Sentinels with credentials of their own: the user.'),
  REDIS_SENTINEL_PASSWORD: Text.optional().describe('For the same: the password.'),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be up to 64 letters, digits, "_", "." or "-"')
    .optional()
    .describe(
      'What all keys begin with (default: countersign); each Slack workspace on the same Redis needs its own.',
    ),
});

/** The settings of Redis from the environment. Errors name the variable and never repeat a value. */
export const RedisEnvironment = RedisVariables.transform((given, context): RedisSettings => {
  const refuse = (path: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  const mode = given.REDIS_MODE ?? 'single';
  const urls = given.REDIS_URL.split(/,(?=\s*rediss?:\/\/)/i).map((url) => url.trim());
  const problem = problemWith(urls, mode);
  if (problem !== undefined) refuse('REDIS_URL', problem);
  if (mode === 'sentinel' && given.REDIS_SENTINEL_NAME === undefined) {
    refuse('REDIS_SENTINEL_NAME', 'must name the master that the Sentinels watch');
  }
  return {
    mode,
    urls,
    ...(given.REDIS_SENTINEL_NAME !== undefined && { sentinelName: given.REDIS_SENTINEL_NAME }),
    ...(given.REDIS_SENTINEL_USERNAME !== undefined && { sentinelUsername: given.REDIS_SENTINEL_USERNAME }),
    ...(given.REDIS_SENTINEL_PASSWORD !== undefined && { sentinelPassword: given.REDIS_SENTINEL_PASSWORD }),
    ...(given.REDIS_PREFIX !== undefined && { prefix: given.REDIS_PREFIX }),
  };
});

function problemWith(urls: readonly string[], mode: RedisSettings['mode']): string | undefined {
  const addresses = urls.flatMap((url) => (URL.canParse(url) ? [new URL(url)] : []));
  if (addresses.length < urls.length || !addresses.every(isRedisAddress)) {
    return 'must be redis://host:port or rediss://host:port, several separated by commas; encode special characters of a password';
  }
  if (mode === 'single' && urls.length > 1) {
    return 'names several servers; set REDIS_MODE to sentinel or cluster, or name one';
  }
  if (mode === 'cluster' && addresses.some(({ pathname }) => !['', '/', '/0'].includes(pathname))) {
    return 'names a database, but a cluster has only database 0';
  }
  if (new Set(addresses.map(credentials)).size > 1) {
    return 'must give every server the same protocol, user, password and database';
  }
  return undefined;
}

function isRedisAddress({ protocol, hostname, pathname, search }: URL): boolean {
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname) && search === '';
}

function credentials({ protocol, username, password, pathname }: URL): string {
  return JSON.stringify([protocol, username, password, pathname]);
}
