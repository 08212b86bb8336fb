import { createServer } from 'node:net';
import type { BroughtUpRedis } from '../redis/bring-up-redis.ts';
import { findFreePort } from '../redis/find-free-port.ts';
import type { LocalSlack } from '../slack/start-local-slack.ts';

export interface BotSurroundings {
  /** The environment of the playground itself, whose REDIS_URL the playground has used if there is one. */
  readonly env: NodeJS.ProcessEnv;
  readonly slack: Pick<LocalSlack, 'botToken' | 'appToken' | 'apiUrl'>;
  readonly redis: Pick<BroughtUpRedis, 'url' | 'source'>;
  /** URL of the scripted model; without one the environment names the model. */
  readonly modelUrl: string | undefined;
  readonly manifest: string;
  /** The key that signs the audit log, unless the environment names another. */
  readonly auditKeyFile: string;
  readonly port: number;
  /** The address where browsers reach the bot's page. */
  readonly publicUrl: string;
}

/** Short, so that people can wait for it, and still many heartbeats long. */
const CRASH_NOTICE_SECONDS = 6;
const FINER_LOG_LEVELS = ['trace', 'debug'];

/** Builds the bot's environment: that of production with other addresses. */
export function botEnvironment(surroundings: BotSurroundings): NodeJS.ProcessEnv {
  const { env, slack, redis, modelUrl, manifest, auditKeyFile, port, publicUrl } = surroundings;
  const { SLACK_SIGNING_SECRET: _http, PUBLIC_URL: _public, NODE_OPTIONS: _loader, ...given } = env;
  const { LOG_LEVEL: level = 'info' } = given;
  return {
    ...(env.AUDIT_KEY === undefined && { AUDIT_KEY_FILE: auditKeyFile }),
    ...(redis.source === 'started' ? withoutRedisSettings(given) : given),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    REDIS_URL: redis.url,
    MANIFEST: manifest,
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    CRASH_NOTICE_SECONDS: String(CRASH_NOTICE_SECONDS),
    // The log line that reports the connection has the level "info".
    LOG_LEVEL: FINER_LOG_LEVELS.includes(level) ? level : 'info',
    ...(modelUrl !== undefined && {
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: modelUrl,
      OPENAI_MODEL: 'scripted',
    }),
  };
}

/** Removes Redis settings of the environment, which describe another server than the private one. */
function withoutRedisSettings(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('REDIS_')));
}

const DEFAULT_PORT = 4400;
const MAX_TRIES = 20;

/** Chooses the port of the page: the one that was asked for, else 4400 or the next even one that is free. */
export async function choosePagePort(asked: number | undefined): Promise<number> {
  if (asked !== undefined) return asked;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = DEFAULT_PORT + 2 * tries;
    if (await isFree(port)) return port;
  }
  return await findFreePort();
}

/**
 * Chooses the port of the bot's public address: the one after the page's, so that URLs and passkeys stay valid after a restart, or a
 * free one if that is taken.
 */
export async function choosePublicPort(pagePort: number): Promise<number> {
  const next = pagePort + 1;
  return pagePort > 0 && next <= 65_535 && (await isFree(next)) ? next : await findFreePort();
}

/** Tries every address, as the bot will use them, and this machine's own, which some systems let two servers share with the others. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port)) && (await canListen(port, '127.0.0.1'));
}

function canListen(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host }, () => probe.close(() => resolve(true)));
  });
}
