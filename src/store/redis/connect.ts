import type { RedisOptions } from 'ioredis';
import { RedisUnreachableError, reasonOf } from '../errors.ts';
import { type Guard, GuardedCluster, GuardedRedis } from './guarded-clients.ts';
import { redactUrl } from './redact-url.ts';
import type { RedisSettings } from './redis-settings.ts';
import type { RedisClient } from './run-script.ts';

export interface ConnectOptions {
  /** The time limit of one call, with its retries. */
  readonly patienceMs?: number;
  /** The retries of a call on a new connection; `null` means that only the time limit counts, as BullMQ needs it. */
  readonly maxRetriesPerRequest?: number | null;
  /** Called once when the connection is lost, with a sentence for the log. */
  readonly onProblem?: (message: string) => void;
}

const PATIENCE_MS = 10_000;
const RETRIES_PER_REQUEST = 6;
const CONNECT_TIMEOUT_MS = 5_000;
const SLOWEST_RETRY_MS = 2_000;

/** Connects, and resolves once Redis has answered; otherwise throws one sentence without credentials. */
export async function connectRedis(
  settings: RedisSettings,
  options: ConnectOptions = {},
): Promise<RedisClient> {
  const client = openConnection(settings, options);
  try {
    await client.ping();
    return client;
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

/** Opens a connection that reconnects as long as it is open. Each call on it ends in time. */
export function openConnection(settings: RedisSettings, options: ConnectOptions = {}): RedisClient {
  const guard: Guard = {
    label: labelOf(settings),
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    lastReason: undefined,
  };
  const client = openClient(settings, options, guard);
  client.on('error', (error: unknown) => {
    const reason = reasonOf(error);
    if (guard.lastReason === reason) return;
    guard.lastReason = reason;
    options.onProblem?.(new RedisUnreachableError(guard.label, reason).message);
  });
  client.on('ready', () => {
    guard.lastReason = undefined;
  });
  return client;
}

function openClient(
  { mode, urls, sentinelName, sentinelUsername, sentinelPassword }: RedisSettings,
  { maxRetriesPerRequest = RETRIES_PER_REQUEST }: ConnectOptions,
  guard: Guard,
): RedisClient {
  const addresses = urls.map((url) => new URL(url));
  const nodes = addresses.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
  }));
  const [first] = addresses;
  const [firstNode] = nodes;
  if (first === undefined || firstNode === undefined) {
    throw new RangeError('Redis has no address; set REDIS_URL to redis://host:port.');
  }
  const isEncrypted = first.protocol === 'rediss:';
  const common = {
    ...credentialsOf(first),
    ...(isEncrypted && { tls: {} }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest,
    autoResendUnfulfilledCommands: true,
    retryStrategy: backOff,
  } satisfies RedisOptions;

  if (mode === 'cluster') {
    const { retryStrategy: _byTheCluster, ...redisOptions } = common;
    return new GuardedCluster(
      nodes,
      {
        redisOptions,
        clusterRetryStrategy: backOff,
        // A certificate names hosts, so the announced names must not be resolved to addresses.
        ...(isEncrypted && { dnsLookup: (host, done) => done(null, host) }),
      },
      guard,
    );
  }
  const db = Number(first.pathname.slice(1));
  if (mode === 'sentinel') {
    return new GuardedRedis(
      {
        ...common,
        db,
        sentinels: nodes,
        name: sentinelName,
        sentinelUsername,
        sentinelPassword,
        sentinelRetryStrategy: backOff,
        sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
        failoverDetector: true,
        ...(isEncrypted && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        // The old master is a replica now: reconnect to the new one and resend the command.
        reconnectOnError: (error) => (isReadOnly(error) ? 2 : false),
      },
      guard,
    );
  }
  return new GuardedRedis(
    // Reconnect without a resend: with a lone replica behind the address a resent command would loop.
    { ...common, ...firstNode, db, reconnectOnError: (error) => (isReadOnly(error) ? 1 : false) },
    guard,
  );
}

function credentialsOf({ username, password }: URL): Pick<RedisOptions, 'username' | 'password'> {
  if (password === '') return {};
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    password: decodeURIComponent(password),
  };
}

function labelOf({ mode, urls, sentinelName }: RedisSettings): string {
  const places = redactUrl(urls.join(','));
  return mode === 'sentinel' ? `"${sentinelName}" behind the Sentinels ${places}` : places;
}

// Jitter keeps the processes of a deployment from returning to a Redis that has just come up all at once.
function backOff(attempt: number): number {
  return Math.min(50 * 2 ** (attempt - 1), SLOWEST_RETRY_MS) + Math.floor(Math.random() * 50);
}

function isReadOnly(error: Error): boolean {
  return error.message.startsWith('READONLY');
}
