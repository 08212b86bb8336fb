import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../src/settings.ts';
import type { Manifest } from '../src/tools/manifest/manifest.ts';
import { type BotSupervisor, superviseBot } from './bot/supervise-bot.ts';
import { startBotPage } from './bot-page/start-bot-page.ts';
import type { Machine } from './install/machine.ts';
import { JOB, openReleaseJob } from './job/release-job.ts';
import { type LocalModel, startLocalModel } from './model/start-local-model.ts';
import { startPageServer } from './page-server/start-page-server.ts';
import type { PlaygroundEntity } from './protocol.ts';
import type { PlaygroundArguments } from './read-arguments.ts';
import { openRecordReader } from './record/open-record-reader.ts';
import { bringUpRedis } from './redis/bring-up-redis.ts';
import { findFreePort } from './redis/find-free-port.ts';
import { answerByScript } from './scripted-model/scripted-model.ts';
import { CAST, CHANNELS } from './slack/default-cast.ts';
import type { SignInClient } from './slack/openid/sign-in.ts';
import { type LocalSlack, startLocalSlack } from './slack/start-local-slack.ts';
import { saveState } from './slack/state/save-state.ts';
import { botEnvironment, choosePagePort, choosePublicPort } from './start/bot-environment.ts';
import { buildBotPage, buildPage } from './start/build-page.ts';
import { loadApp } from './start/load-app.ts';
import { lockFolder } from './start/lock-folder.ts';
import { addNamed, describeWorkspace, isShop, notesFor, readExampleCalls } from './start/own-manifest.ts';
import { openPlaygroundView, PERSON_NOTES } from './start/playground-view.ts';
import { Resources, StoppedError } from './start/resources.ts';
import { saveOnChange } from './start/save-on-change.ts';
import { deleteSaved, FILES, keepAuditKey, loadSaved } from './start/saved-state.ts';
import { OPENING_PROMPT } from './tour/tour-texts.ts';

export interface PlaygroundOptions extends PlaygroundArguments {
  readonly env?: NodeJS.ProcessEnv;
  /** Receives progress lines. */
  readonly log?: (line: string) => void;
  /** Aborts the start; everything that was started is stopped. */
  readonly signal?: AbortSignal;
  /** The machine on which Redis may be installed; tests pass in another. */
  readonly machine?: Machine;
  /** Time a killed bot stays down. */
  readonly restartAfterMs?: number;
  /** Begins a new workspace with a request, so that a card is waiting. */
  readonly withOpening?: boolean;
}

/** A playground that is ready: the page is served and the bot is connected. */
export interface Playground {
  readonly url: string;
  /** The address of the bot's page, as browsers reach it, and the port of the bot behind it. */
  readonly publicUrl: string;
  readonly botPort: number;
  readonly slack: LocalSlack;
  readonly bot: BotSupervisor;
  readonly model: PlaygroundEntity['model'];
  readonly redisUrl: string;
  /** True when a card waits for a decision. */
  readonly hasCard: boolean;
  /** For a manifest of one's own: its tools as messages that call them, and the ids that it can name, a line each. */
  readonly own?: { readonly calls: readonly string[]; readonly workspace: readonly string[] };
  /** Stops everything in order; what happened is kept in the data folder. */
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 120_000;
const CARD_TIMEOUT_MS = 20_000;
const BOT_ENTRY = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Brings up Redis, a model, a Slack workspace, the bot and the page; if one of them fails, none is left running. */
export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const openings = new Resources();
  try {
    return await Promise.race([start(options, openings), stopped(options.signal)]);
  } catch (error) {
    await openings.close();
    throw error;
  }
}

/** Shorter than Slack's one and five minutes, so that nobody waits that long after killing the bot. */
const EVENT_RETRIES_MS = [0, 3_000, 6_000, 12_000, 12_000, 12_000, 60_000];

async function start(options: PlaygroundOptions, openings: Resources): Promise<Playground> {
  const { log = () => {}, reset } = options;
  const env = withSecrets(options.env ?? process.env);
  const { manifest, app } = await loadApp(options.manifest, env, log);
  const { path: folder } = await openings.open(
    () => lockFolder(options.dataFolder),
    (held) => held.release(),
  );
  log('Starting Redis, the model and a Slack workspace.');
  if (reset) await deleteSaved(folder);
  const saved = await loadSaved(folder);
  const pagePort = await choosePagePort(options.port);
  const publicPort = await choosePublicPort(pagePort);
  // A passkey belongs to a name, never to a number.
  const publicUrl = `http://localhost:${publicPort}`;
  const signIn = signInClient(manifest, publicUrl);
  const slack = await openings.open(
    () =>
      startLocalSlack({
        app,
        rateLimits: 'slack',
        timings: { eventRetries: EVENT_RETRIES_MS },
        ...(signIn !== undefined && { signIn }),
        ...(saved !== undefined && { saved: saved.workspace }),
      }),
    (opened) => opened.stop(),
  );
  const [scripted, redis, files] = await Promise.all([
    openings.open(() => openScriptedModel(manifest, env), closeScriptedModel),
    openings.open(
      () => openRedis(folder, options),
      (opened) => opened.stop(),
    ),
    buildPage({ log }),
  ]);
  const added = addNamed(slack.workspace.state, manifest);
  const isOwn = !isShop(manifest, options.manifest);
  const calls = isOwn ? await readExampleCalls(options.manifest, env, log) : undefined;
  log('Redis runs and the page is built. Starting the bot.');
  if (reset && redis.source === 'REDIS_URL') log('--reset does not touch the Redis of REDIS_URL.');
  const record = await openings.open(
    () => openRecordReader({ redisUrl: redis.url }),
    (opened) => opened.close(),
  );

  let readReads = () => saved?.reads ?? {};
  const kept = saveOnChange({
    file: join(folder, FILES.slack),
    snapshot: () => ({ workspace: saveState(slack.workspace.state), reads: readReads() }),
    onProblem: (error) => log(`The workspace could not be saved in ${folder}: ${String(error)}.`),
  });
  await openings.open(
    async () => kept,
    (opened) => opened.flush(),
  );
  kept.changed();
  slack.workspace.state.events.on('change', () => kept.changed());

  const port = await findFreePort();
  await openings.open(
    () => startBotPage({ port: publicPort, botPort: port, files, build: () => buildBotPage({ log }) }),
    (opened) => opened.stop(),
  );
  const surroundings = {
    env,
    slack,
    redis,
    modelUrl: scripted?.url,
    manifest: resolve(options.manifest),
    auditKeyFile: await keepAuditKey(folder),
    port,
    publicUrl,
  };
  const botEnv = botEnvironment(surroundings);
  const model = { isScripted: scripted !== undefined, name: modelName(manifest, botEnv) };
  const botLog = await openings.open(async () => createWriteStream(join(folder, FILES.botLog)), closeStream);
  const bot = await openings.open(
    async () =>
      superviseBot({
        entry: BOT_ENTRY,
        env: botEnv,
        log: (text) => void botLog.write(text),
        ...(options.restartAfterMs !== undefined && { restartAfterMs: options.restartAfterMs }),
      }),
    (opened) => opened.stop(),
  );
  const openJob = (onChange: () => void) =>
    openReleaseJob({
      ...{ url: `http://127.0.0.1:${port}`, key: env[JOB.key] ?? '', folder: join(folder, FILES.job) },
      onChange,
    });
  const view = await openings.open(
    () =>
      openPlaygroundView({
        ...{ bot, model, record, redisUrl: redis.url, workspace: slack.workspace.state, calls },
        ...(manifest.callers.has(JOB.caller) && { openJob }),
      }),
    (opened) => opened.close(),
  );
  const page = await openings.open(
    () =>
      startPageServer({
        slack,
        files,
        port: pagePort,
        about: isOwn ? notesFor(slack.workspace.state, manifest) : PERSON_NOTES,
        playground: view,
        record,
        ...(saved !== undefined && { reads: saved.reads }),
      }),
    (opened) => opened.stop(),
  );
  readReads = () => page.reads();
  page.onRead(() => kept.changed());
  await connectedInTime(bot, join(options.dataFolder, FILES.botLog));
  log('The bot is connected.');
  if (options.withOpening === true && saved === undefined && !isOwn) await openWithCard(slack, model);
  const requests = await record.allRequests();
  return {
    url: page.url,
    publicUrl,
    botPort: port,
    slack,
    bot,
    model,
    redisUrl: redis.url,
    hasCard: requests.some(({ kind, state }) => kind === 'approval' && state === 'pending'),
    ...(calls !== undefined && {
      own: { calls, workspace: describeWorkspace(slack.workspace.state, added) },
    }),
    stop: () => openings.close(),
  };
}

/** The variable of the secret with which the bot's page signs people in. */
const PAGE_SECRET = 'PAGE_CLIENT_SECRET';

/** Gives the job of the terminal a key and the bot's page a secret, unless the environment has them. */
function withSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const made = [JOB.key, PAGE_SECRET].map((name) => [name, randomBytes(32).toString('base64url')]);
  return { ...Object.fromEntries(made), ...env };
}

/** The bot's page as Slack knows it, if people sign in with Slack there. */
function signInClient({ page }: Manifest, publicUrl: string): SignInClient | undefined {
  if (page === undefined || page.issuer !== undefined) return undefined;
  return { id: page.clientId, secret: page.clientSecret, redirectUri: `${publicUrl}/page/signed-in` };
}

/** Begins with a request. With the scripted model its card is there when this resolves; a real one takes its time, and may ask nobody. */
async function openWithCard(
  { workspace }: LocalSlack,
  { isScripted }: PlaygroundEntity['model'],
): Promise<void> {
  const { botUserId } = workspace.state.app;
  const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, `<@${botUserId}> ${OPENING_PROMPT}`);
  if (!isScripted) return;
  const hasCard = () =>
    workspace.messagesIn(CHANNELS.general, ts).some(({ text }) => text.startsWith('Approval needed'));
  // Another manifest may let it run without approval.
  await workspace.until(hasCard, { timeoutMs: CARD_TIMEOUT_MS, what: 'the first card' }).catch(() => {});
}

function openRedis(folder: string, { env = process.env, log = () => {}, machine }: PlaygroundOptions) {
  const dataFolder = join(folder, FILES.redis);
  return bringUpRedis({ dataFolder, persistent: true, log, env, ...(machine !== undefined && { machine }) });
}

/** Starts the scripted model unless there is a key for a real one. */
async function openScriptedModel(
  { agent }: Manifest,
  { OPENAI_API_KEY: key }: NodeJS.ProcessEnv,
): Promise<LocalModel | undefined> {
  if (key !== undefined && key !== '') return undefined;
  const models = ['scripted', ...(agent.model === undefined ? [] : [agent.model])];
  return await startLocalModel({ script: answerByScript, models });
}

async function closeScriptedModel(model: LocalModel | undefined): Promise<void> {
  // A call without a scripted answer was already reported in the thread; it must not disturb the shutdown.
  await model?.stop().catch(() => {});
}

function modelName({ agent }: Manifest, botEnv: NodeJS.ProcessEnv): string {
  const read = readSettings(botEnv);
  if (!read.ok) throw new Error(`The bot cannot start with this environment: ${read.problems.join('; ')}.`);
  return agent.model ?? read.settings.model.model;
}

async function connectedInTime(bot: BotSupervisor, logFile: string): Promise<void> {
  const inTime = new AbortController();
  const tooLate = sleep(CONNECT_TIMEOUT_MS, undefined, { signal: inTime.signal }).then(() => {
    throw new Error(`The bot was not connected after ${CONNECT_TIMEOUT_MS / 1_000} s; see ${logFile}.`);
  });
  tooLate.catch(() => {});
  await Promise.race([bot.connected(), tooLate]).finally(() => inTime.abort());
}

function closeStream(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()));
}

function stopped(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new StoppedError());
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}
