import { z } from 'zod';
import { WRITE_REASONS } from '../../bot/views/texts/notices.ts';
import { inspectModels } from '../../inspect-model.ts';
import { readSettings } from '../../settings.ts';
import type { Measures } from '../../store/port/values.ts';
import {
  checkServer,
  fillOf,
  readClock,
  readMemory,
  type ServerMemory,
} from '../../store/redis/check-server.ts';
import { versionProblem } from '../../store/redis/record-version.ts';
import { redactUrl } from '../../store/redis/redact-url.ts';
import { refusedWrite } from '../../store/redis/short-lived.ts';
import { proxiedFetch, readProxy } from '../../tools/http/proxy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { mcpServersOf } from '../../tools/manifest/manifest.ts';
import { scopesOf } from '../../tools/manifest/schema/slack.ts';
import { Sealer } from '../../tools/mcp/auth/connections.ts';
import { probeChallenge } from '../../tools/mcp/auth/consent.ts';
import { requesterServersOf } from '../../tools/mcp/auth/create-identities.ts';
import { clientFor, discover, needsRegistration } from '../../tools/mcp/auth/discover.ts';
import { callSlack } from '../shared/call-slack.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';
import { type LoadedManifest, toFinding } from './inspect-manifest.ts';

/** Connects to Redis and reports settings that endanger the record. */
export async function checkRedis(context: CommandContext): Promise<Finding[]> {
  const { REDIS_URL: url = '' } = context.environment;
  if (url === '') return [notChecked('redis', 'REDIS_URL is not set')];
  try {
    const { version, refused, findings, threads, time, memory, measures } = await withRecord(
      context,
      async ({ client, store, prefix }) => ({
        version: await versionProblem(client, prefix),
        refused: await refusedWrite(client, prefix),
        measures: await store.measure(),
        findings: await checkServer(client),
        threads: await store.listQuarantined(),
        time: await readClock(client),
        memory: await readMemory(client),
      }),
    );
    return [
      ok('redis', `reached at ${redactUrl(url)}`),
      ...(version === undefined ? [] : [failed('redis', version)]),
      ...(refused === undefined
        ? []
        : [failed('redis', `it refuses writes: ${WRITE_REASONS[refused] ?? refused}`)]),
      ...checkWork(measures),
      ...(memory === undefined ? [] : [checkMemory(memory)]),
      ...threads.map(({ threadId, reason }) =>
        warning('threads', `${threadId} is quarantined: ${reason}; see "countersign retry --help"`),
      ),
      ...findings.map(({ severity, message }) => (severity === 'error' ? failed : warning)('redis', message)),
      ...(time === undefined ? [] : [checkClock('Redis', time, Date.now())]),
    ];
  } catch (error) {
    return [failed('redis', firstLineOf(error))];
  }
}

/** Messages that are due wait no longer than this where the bot works. */
const STUCK_MS = 300_000;

/** Finds work that is not done, and outcomes that nobody has confirmed. */
export function checkWork({ outbox, overdueTimers, requests }: Measures): Finding[] {
  const check = 'work';
  const minutes = Math.floor(outbox.oldestMs / 60_000);
  const stuck = [
    ...(outbox.oldestMs > STUCK_MS ? [`a message to Slack has waited for ${minutes} minutes`] : []),
    ...(overdueTimers > 0 ? [`overdue timers: ${overdueTimers}`] : []),
  ];
  const webhookMinutes = Math.floor(outbox.oldestWebhookMs / 60_000);
  const fix = 'start the bot if none runs; otherwise look for "delivery failed" in its log';
  return [
    ...stuck.map((message) => failed(check, message, { fix })),
    ...(outbox.oldestWebhookMs > STUCK_MS
      ? [
          failed(check, `a message to the webhook of a caller has waited for ${webhookMinutes} minutes`, {
            fix: 'look for "webhook failed" in the log of the bot, which names the caller and the reason',
          }),
        ]
      : []),
    ...(requests.unknown > 0
      ? [
          warning(check, `actions with an unknown outcome: ${requests.unknown}`, {
            fix: 'countersign pending names them',
          }),
        ]
      : []),
  ];
}

const ALMOST_FULL = 0.85;
const MEGABYTE = 1_000_000;

/** Says how full Redis is. At its limit it refuses everything new. */
export function checkMemory(memory: ServerMemory): Finding {
  const check = 'redis memory';
  const { usedBytes, maxBytes, evictionPolicy } = memory;
  const used = `${(usedBytes / MEGABYTE).toFixed(1)} MB`;
  const limit = maxBytes === undefined ? 'no maxmemory' : `${(maxBytes / MEGABYTE).toFixed(1)} MB`;
  const message = `${used} used of ${limit}, maxmemory-policy ${evictionPolicy}`;
  const fix = 'raise maxmemory (CONFIG SET maxmemory), or shorten retention in the manifest';
  if (fillOf(memory) >= 1) return failed(check, `full: ${message}`, { fix });
  return fillOf(memory) >= ALMOST_FULL ? warning(check, message, { fix }) : ok(check, message);
}

/** Slack's date counts in seconds, and an answer takes time. */
const TOLERATED_MS = 5_000;
/** Signatures of Slack that are older are refused. */
const REFUSED_MS = 300_000;

/** Compares another clock with this machine's. Deadlines are kept by Redis's clock, and requests of Slack are refused when they seem old. */
export function checkClock(whose: string, theirs: number, ours: number): Finding {
  const check = 'clock';
  const offMs = Math.abs(theirs - ours);
  if (offMs <= TOLERATED_MS) return ok(check, `agrees with ${whose}`);
  const seconds = Math.round(offMs / 1_000);
  const message = `this machine's clock is ${seconds} seconds ${theirs > ours ? 'behind' : 'ahead of'} ${whose}'s`;
  return (offMs >= REFUSED_MS ? failed : warning)(check, message, { fix: 'sync it with NTP' });
}

const Identity = z.object({ team: z.string().catch('?'), user: z.string().catch('?') });

/** Tries the tokens, and compares the scopes of the bot token with those of the manifest. */
export async function checkSlack(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  return [
    ...(await findings('slack bot token', () => checkBotToken(environment, manifest))),
    ...(await findings('slack app token', () => checkAppToken(environment))),
  ];
}

async function findings(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [failed(check, firstLineOf(error))];
  }
}

async function checkBotToken(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const check = 'slack bot token';
  const { SLACK_BOT_TOKEN: token = '' } = environment;
  if (token === '')
    return [notChecked(check, 'SLACK_BOT_TOKEN is not set'), notChecked('slack scopes', 'there is no token')];
  const { ok: isOk, error, body, scopes, date } = await callSlack('auth.test', token, {}, environment);
  if (!isOk) {
    const advice =
      'copy the bot token again from "OAuth & Permissions" of the app, and install the app if it is not installed';
    return [
      failed(check, `Slack rejects SLACK_BOT_TOKEN (${error})`, { fix: advice }),
      notChecked('slack scopes', 'the token is rejected'),
    ];
  }
  const { team, user } = Identity.parse(body);
  return [
    ok(check, `the bot is ${user} in ${team}`),
    ...checkScopes(scopes, manifest),
    ...(date === undefined ? [] : [checkClock('Slack', date, Date.now())]),
  ];
}

function checkScopes(installed: readonly string[], manifest: Manifest | undefined): Finding[] {
  const check = 'slack scopes';
  if (manifest === undefined) return [notChecked(check, 'there is no valid manifest to compare them with')];
  const { bot: listed, optional } = scopesOf(manifest.slack);
  const without = listed.filter((scope) => !installed.includes(scope));
  const missing = without.filter((scope) => !optional.includes(scope));
  const left = without.filter((scope) => optional.includes(scope));
  const extra = installed.filter((scope) => !listed.includes(scope));
  const advice = 'update the app (countersign manifest push --app-id ID) and install it again';
  return [
    missing.length === 0
      ? ok(check, `all ${listed.length - left.length} scopes in the manifest are granted`)
      : failed(check, `missing: ${missing.join(', ')}`, { fix: advice }),
    ...left.map((scope) =>
      warning(check, `${scope} is not granted: ${WITHOUT_SCOPE[scope] ?? 'it is optional'}`),
    ),
    ...(extra.length === 0
      ? []
      : [warning(check, `granted, but not in the manifest: ${extra.join(', ')}`, { fix: advice })]),
  ];
}

/** The features that people do not have without an optional scope. */
const WITHOUT_SCOPE: Readonly<Record<string, string>> = {
  'files:read': 'files that people attach are not read',
  'files:write': 'tools send no files',
  'reactions:write': 'no message is marked as waiting',
  'usergroups:read': 'no user group can approve or be allowed',
};

async function checkAppToken(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const check = 'slack app token';
  const { SLACK_APP_TOKEN: token = '', SLACK_SIGNING_SECRET: signing = '' } = environment;
  if (token === '') {
    const isHttp = signing !== '';
    return [
      isHttp
        ? ok(check, 'not needed: Slack calls over HTTP')
        : notChecked(check, 'SLACK_APP_TOKEN is not set'),
    ];
  }
  const { ok: isOk, error } = await callSlack('apps.connections.open', token, {}, environment);
  if (isOk) return [ok(check, 'Socket Mode can be opened')];
  const advice =
    'create an app-level token with connections:write under "Basic Information" and turn Socket Mode on';
  return [failed(check, `Slack rejects SLACK_APP_TOKEN (${error})`, { fix: advice })];
}

/** Replaces the settings that the model does not need, so that it can be checked before they are set. */
const OTHER_SETTINGS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_APP_TOKEN: 'xapp-', REDIS_URL: 'redis://localhost' };
const NOTHING_DECLARED = {
  model: undefined,
  fallbackModels: [],
  api: 'auto',
  config: {},
  headers: {},
  query: {},
  timeoutMs: undefined,
} as const;

/** Asks each model for a call of a harmless tool, in the way the bot does. */
export async function checkModel(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const read = readSettings({ ...environment, ...OTHER_SETTINGS });
  if (!read.ok) return [notChecked('model', read.problems.join(', '))];
  const { model, proxy } = read.settings;
  const settings = { ...model, fetch: proxiedFetch(proxy) };
  const findings = await inspectModels(settings, manifest?.agent ?? NOTHING_DECLARED);
  return findings.map((finding) => ({ check: 'model', ...finding }));
}

/** Checks what people need to connect their accounts: the key, the address of the bot, and the metadata of each server. */
export async function checkConnections(
  environment: NodeJS.ProcessEnv,
  loaded: LoadedManifest | undefined,
): Promise<Finding[]> {
  if (loaded === undefined) return [];
  const servers = requesterServersOf(mcpServersOf(loaded.manifest), readProxy(environment));
  if (servers.length === 0) return [];
  const { PUBLIC_URL: publicUrl = '' } = environment;
  const isSecure = publicUrl.startsWith('https://');
  const metadata = servers.map(async ({ name, url, auth, fetch }): Promise<Finding> => {
    const check = `accounts at ${name}`;
    try {
      const challenge = await probeChallenge(url, fetch);
      const { issuer, metadata: offered } = await discover(url, { challenge, issuer: auth.issuer, fetch });
      const client = { auth, clientMetadataUrl: isSecure ? publicUrl : undefined };
      if (!needsRegistration(client, offered)) clientFor(client, offered);
      if (offered.code_challenge_methods_supported?.includes('S256') !== true)
        return failed(check, `${issuer} does not offer PKCE with S256`);
      return ok(check, `people log in at ${issuer}`);
    } catch (error) {
      return failed(check, firstLineOf(error));
    }
  });
  return [checkKey(environment), checkAddress(publicUrl, isSecure), ...(await Promise.all(metadata))];
}

/** Checks that browsers can come back to the page: its address, and that Slack knows it. */
export function checkPage({ PUBLIC_URL: url = '' }: NodeJS.ProcessEnv, loaded?: LoadedManifest): Finding[] {
  const page = loaded?.manifest.page;
  if (loaded === undefined || page === undefined) return [];
  if (url === '') {
    const message = 'PUBLIC_URL is not set, so nobody but this machine reaches the page';
    const fix = 'set PUBLIC_URL to the HTTPS address of the bot';
    return [toFinding('page', { pointer: '/page', at: 'key', severity: 'error', message, fix }, loaded)];
  }
  if (page.issuer !== undefined) return [];
  const address = `${url.replace(/\/$/, '')}/page/signed-in`;
  const { data } = Redirects.safeParse(loaded.manifest.slack);
  if (data?.oauth_config.redirect_urls.some((known) => address.startsWith(known)) === true) return [];
  const message = `the redirect URL ${address} is missing, so nobody can sign in to the page`;
  const fix = 'add it to redirect_urls of slack.oauth_config, and update the app in Slack';
  return [toFinding('page', { pointer: '/page', at: 'key', severity: 'error', message, fix }, loaded)];
}

const Redirects = z.object({
  oauth_config: z.object({ redirect_urls: z.array(z.string()).default([]) }).default({ redirect_urls: [] }),
});

function checkKey({ CONNECTIONS_KEY: text = '' }: NodeJS.ProcessEnv): Finding {
  const check = 'connections key';
  const fix = 'make one with "openssl rand -base64 32" and set CONNECTIONS_KEY in .env';
  if (text === '')
    return failed(check, 'CONNECTIONS_KEY is not set, so nobody can connect an account', { fix });
  const sealer = Sealer.read(text);
  return typeof sealer === 'string'
    ? failed(check, `CONNECTIONS_KEY ${sealer}`, { fix })
    : ok(check, 'accounts are encrypted');
}

function checkAddress(publicUrl: string, isSecure: boolean): Finding {
  const check = 'connections address';
  if (publicUrl === '')
    return failed(check, 'PUBLIC_URL is not set, so browsers cannot come back', {
      fix: 'set PUBLIC_URL to the HTTPS address of the bot',
    });
  if (!isSecure) return warning(check, 'PUBLIC_URL is not HTTPS, so codes can be read on the way');
  return ok(check, `browsers come back to ${publicUrl}`);
}
