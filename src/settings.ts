import { hkdfSync } from 'node:crypto';
import { z } from 'zod';
import type { KeySource } from './audit/signing-key.ts';
import { RedisEnvironment, type RedisSettings } from './store/redis/redis-settings.ts';
import { type ProxySettings, proxyProblems, readProxy } from './tools/http/proxy.ts';

const Secret = z.string().min(1);
const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with https:// or http://',
});

/** The environment variables of the bot but those of Redis; docs/settings.md is made from it. */
export const Environment = z.object({
  SLACK_BOT_TOKEN: Secret.startsWith('xoxb-', 'must start with xoxb-').describe(
    'The "Bot User OAuth Token" of the app.',
  ),
  SLACK_APP_TOKEN: Secret.startsWith('xapp-', 'must start with xapp-')
    .optional()
    .describe('The app-level token with `connections:write`: with it the bot uses Socket Mode.'),
  SLACK_SIGNING_SECRET: Secret.optional().describe(
    'The signing secret: with it, and without an app-level token, Slack calls the bot over HTTP.',
  ),
  SLACK_API_URL: WebAddress.optional().describe('Only for a Slack that is not slack.com.'),
  OPENAI_API_KEY: Secret.describe('The key of the model; any text if the provider wants none.'),
  OPENAI_BASE_URL: WebAddress.optional().describe(
    'The address of the model: Azure (`https://NAME.openai.azure.com/openai/v1`) or any server with the same protocol (default: OpenAI).',
  ),
  OPENAI_MODEL: z.string().min(1).default('gpt-6-luna').describe('The model, unless the manifest names one.'),
  MANIFEST: z.string().min(1).default('manifest.yml').describe('The path of the manifest.'),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(3000)
    .describe(
      "The port of the bot's own HTTP server: `/health`, `/ready`, `/metrics`, `/callback`, `/connect`, `/v1`, `/mcp`, `/page`, `/slack/events`.",
    ),
  PUBLIC_URL: WebAddress.optional().describe(
    'Where external systems and browsers reach the bot (default: `http://localhost:PORT`).',
  ),
  CALLBACK_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('Signs the callback addresses, at least 32 characters (default: derived from the bot token).'),
  MODEL_SILENCE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(120)
    .describe('Seconds the model may send nothing before the request is retried.'),
  CRASH_NOTICE_SECONDS: z.coerce
    .number()
    .int()
    .min(5)
    .max(600)
    .default(30)
    .describe('Seconds without a heartbeat before a worker counts as dead, 5 to 600.'),
  AUDIT_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('The file of the key that signs the audit log; `countersign audit key` makes one.'),
  AUDIT_KEY: Secret.optional().describe('The text of that key (PEM, or base64 of PKCS #8).'),
  AUDIT_STATE_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Where the signer remembers its last checkpoint, out of reach of those who can write to Redis (default: beside `AUDIT_KEY_FILE`).',
    ),
  AUDIT_FOLDER: z
    .string()
    .min(1)
    .optional()
    .describe('The folder that a relative `audit.file` starts from (default: that of the manifest).'),
  CONNECTIONS_KEY: Secret.optional().describe(
    'Encrypts the accounts that people connect at MCP servers: 32 bytes in base64 (`openssl rand -base64 32`). To rotate: new key, comma, old key.',
  ),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('With it, `/metrics` asks for `Authorization: Bearer METRICS_TOKEN`; at least 16 characters.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('How much is logged.'),
});

/** The settings of the process, read from the environment and checked once. */
export interface Settings {
  readonly slack: { readonly botToken: string; readonly apiUrl: string | undefined } & (
    | { readonly mode: 'socket'; readonly appToken: string }
    | { readonly mode: 'http'; readonly signingSecret: string }
  );
  readonly model: {
    readonly model: string;
    readonly apiKey: string;
    readonly baseURL: string | undefined;
    /** The time limit for silence of the model, before and within its reply. */
    readonly silenceMs: number;
  };
  readonly redis: RedisSettings;
  /** The proxies of connections to the model, to Slack and to tools. */
  readonly proxy?: ProxySettings | undefined;
  readonly manifest: string;
  readonly port: number;
  /** The address where external systems reach the bot, for callbacks. */
  readonly publicUrl: string;
  /** The key that signs callback addresses. */
  readonly callbackSecret: string;
  /** The time without a heartbeat after which a process is taken for dead and its work is recovered. */
  readonly crashNoticeSeconds: number;
  /** The file or text of the key that signs the audit log; without one nothing is signed. */
  readonly auditKey?: KeySource | undefined;
  /** The file in which the signer of the audit log remembers what it signed; without one it forgets when the process ends. */
  readonly auditStateFile?: string | undefined;
  /** The folder that a relative `audit.file` starts from; without one, that of the manifest. */
  readonly auditFolder?: string | undefined;
  /** The key that encrypts the accounts that people have connected; without one nobody can connect. */
  readonly connectionsKey?: string | undefined;
  /** The bearer token that `/metrics` asks for; without one it asks for nothing. */
  readonly metricsToken?: string | undefined;
  readonly logLevel: string;
}

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the environment. It names every missing or wrong variable at once and repeats no value. A bot that has a model needs no key of one. */
export function readSettings(environment: NodeJS.ProcessEnv, { hasModel = false } = {}): SettingsResult {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const own = (hasModel ? Environment.partial({ OPENAI_API_KEY: true }) : Environment).safeParse(given);
  const redis = RedisEnvironment.safeParse(given);
  const connection = slackConnection(given);
  const proxies = proxyProblems(given);
  if (!own.success || !redis.success || connection === undefined || proxies.length > 0) {
    const issues = [...(own.error?.issues ?? []), ...(redis.error?.issues ?? [])];
    const problems = [
      ...issues.map(({ path, message }) => describeIssue(path.join('.'), message, given)),
      ...proxies,
    ];
    return { ok: false, problems: connection === undefined ? [...problems, NO_CONNECTION] : problems };
  }
  const { data } = own;
  return {
    ok: true,
    settings: {
      slack: { botToken: data.SLACK_BOT_TOKEN, apiUrl: data.SLACK_API_URL, ...connection },
      model: {
        model: data.OPENAI_MODEL,
        apiKey: data.OPENAI_API_KEY ?? '',
        baseURL: data.OPENAI_BASE_URL,
        silenceMs: data.MODEL_SILENCE_SECONDS * 1_000,
      },
      redis: redis.data,
      proxy: readProxy(given),
      manifest: data.MANIFEST,
      port: data.PORT,
      publicUrl: data.PUBLIC_URL ?? `http://localhost:${data.PORT}`,
      callbackSecret: data.CALLBACK_SECRET ?? derivedSecret(data.SLACK_BOT_TOKEN),
      crashNoticeSeconds: data.CRASH_NOTICE_SECONDS,
      auditKey: auditKeySource(given),
      auditStateFile: auditStateFile(given),
      auditFolder: data.AUDIT_FOLDER,
      connectionsKey: data.CONNECTIONS_KEY,
      metricsToken: data.METRICS_TOKEN,
      logLevel: data.LOG_LEVEL,
    },
  };
}

/** Lists the secrets among the settings; the log shows none of them. */
export function secretsOf(
  { slack, model, redis, proxy, callbackSecret, auditKey, connectionsKey = '', metricsToken = '' }: Settings,
  { SLACK_SIGNING_SECRET: signingSecret = '' }: NodeJS.ProcessEnv,
): string[] {
  const urls = [...redis.urls, proxy?.httpProxy ?? '', proxy?.httpsProxy ?? ''];
  return [
    slack.botToken,
    slack.mode === 'socket' ? slack.appToken : slack.signingSecret,
    // With Socket Mode it may be set too.
    signingSecret,
    model.apiKey,
    callbackSecret,
    auditKey !== undefined && 'text' in auditKey ? auditKey.text : '',
    ...connectionsKey.split(',').map((key) => key.trim()),
    metricsToken,
    redis.sentinelPassword ?? '',
    ...urls.flatMap(passwordsIn),
  ].filter((secret) => secret !== '');
}

/** A shorter password, such as "redis", is a word that texts may hold for other reasons. */
const SHORTEST_PASSWORD = 8;

/** Returns the password of a URL as it is written and as it is meant. */
function passwordsIn(url: string): string[] {
  const password = URL.canParse(url) ? new URL(url).password : '';
  if (password.length < SHORTEST_PASSWORD) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Derives a key of its own from the bot token, so that the token itself signs nothing; a new token ends the addresses in use. */
function derivedSecret(botToken: string): string {
  return Buffer.from(hkdfSync('sha256', botToken, '', 'countersign callback addresses', 32)).toString(
    'base64url',
  );
}

/** Finds where the key of the audit log is; the file goes before the text. */
export function auditKeySource({
  AUDIT_KEY_FILE: file,
  AUDIT_KEY: text,
}: NodeJS.ProcessEnv): KeySource | undefined {
  if (file !== undefined && file !== '') return { file };
  return text === undefined || text === '' ? undefined : { text };
}

/** Finds the memory of the signer of the audit log: the given file, or the one beside the key. */
export function auditStateFile({
  AUDIT_STATE_FILE: file,
  AUDIT_KEY_FILE: keyFile,
}: NodeJS.ProcessEnv): string | undefined {
  if (file !== undefined && file !== '') return file;
  return keyFile === undefined || keyFile === '' ? undefined : `${keyFile}.state`;
}

/** Finds the folder that a relative `audit.file` starts from. */
export function auditFolder(
  { AUDIT_FOLDER: folder = '' }: NodeJS.ProcessEnv,
  manifestFolder: string,
): string {
  return folder === '' ? manifestFolder : folder;
}

/** Says where settings belong. */
export const SETTINGS_HINT =
  'Put settings into .env in this folder or into the environment; a secret can be in a file: NAME_FILE=/path. "countersign init" writes a .env.';

const NO_CONNECTION =
  'SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP) is not set; both are under "Basic Information" of the app';

/** The places where a person finds a setting. */
const SOURCES: Readonly<Record<string, string>> = {
  SLACK_BOT_TOKEN: 'copy the "Bot User OAuth Token" from "OAuth & Permissions" of the app',
  SLACK_APP_TOKEN: 'create it under "App-Level Tokens" in "Basic Information" of the app',
  OPENAI_API_KEY: 'create it at your model provider; any text if the provider wants none',
  REDIS_URL: 'such as redis://127.0.0.1:6379',
};

/** Describes a setting that is not there, and where to find it; of a file that cannot be read, the file. */
export function describeMissing(name: string, environment: NodeJS.ProcessEnv): string {
  const file = environment[`${name}_FILE`] ?? '';
  if (file !== '') return `${name}_FILE: ${file} cannot be read or is empty`;
  const source = SOURCES[name];
  return source === undefined ? `${name} is not set` : `${name} is not set; ${source}`;
}

/** Chooses Socket Mode or HTTP by the secrets that are set; with both, Socket Mode. */
function slackConnection({
  SLACK_APP_TOKEN: appToken,
  SLACK_SIGNING_SECRET: signingSecret,
}: NodeJS.ProcessEnv) {
  if (appToken !== undefined) return { mode: 'socket', appToken } as const;
  return signingSecret === undefined ? undefined : ({ mode: 'http', signingSecret } as const);
}

function describeIssue(name: string, message: string, given: NodeJS.ProcessEnv): string {
  return given[name] === undefined ? describeMissing(name, given) : `${name}: ${message}`;
}
