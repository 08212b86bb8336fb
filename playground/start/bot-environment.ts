import type { BroughtUpRedis } from '../redis/bring-up-redis.ts';
import type { LocalSlack } from '../slack/start-local-slack.ts';

export interface BotSurroundings {
  /** The environment of the playground itself, whose REDIS_URL the playground has used if there is one. */
  readonly env: NodeJS.ProcessEnv;
  readonly slack: Pick<LocalSlack, 'botToken' | 'appToken' | 'apiUrl'>;
  readonly redis: Pick<BroughtUpRedis, 'url' | 'source'>;
  /** Where the scripted model answers; without one the environment names the model. */
  readonly modelUrl: string | undefined;
  readonly manifest: string;
  /** The key that signs the audit log, unless the environment names another. */
  readonly auditKeyFile: string;
  readonly port: number;
}

/** How soon a bot that was killed is missed: soon enough to wait for, and still many signs of life. */
const CRASH_NOTICE_SECONDS = 6;
const FINER_LOG_LEVELS = ['trace', 'debug'];

/** The settings with which the bot of the playground runs: those of production, with other addresses. */
export function botEnvironment(surroundings: BotSurroundings): NodeJS.ProcessEnv {
  const { env, slack, redis, modelUrl, manifest, auditKeyFile, port } = surroundings;
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
    CRASH_NOTICE_SECONDS: String(CRASH_NOTICE_SECONDS),
    // That it is connected is known from its log, which says so at the level "info".
    LOG_LEVEL: FINER_LOG_LEVELS.includes(level) ? level : 'info',
    ...(modelUrl !== undefined && {
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: modelUrl,
      OPENAI_MODEL: 'scripted',
    }),
  };
}

/** A server that was started here is a single one, whatever the one in the environment is. */
function withoutRedisSettings(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('REDIS_')));
}
