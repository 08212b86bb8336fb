import type { Logger } from 'pino';
import { openAIModel } from './agent/openai/chat-model.ts';
import { startExporter } from './audit/exporter.ts';
import { readSigningKey } from './audit/signing-key.ts';
import { auditSettings } from './audit/sinks.ts';
import { answerCallback } from './bot/callbacks/answer-callback.ts';
import { CallbackUrls } from './bot/callbacks/callback-urls.ts';
import { receiveCallback } from './bot/callbacks/receive-callback.ts';
import { type BotContext, type Timing, timingFor } from './bot/context.ts';
import { listen } from './bot/listeners/listen.ts';
import { ThreadStatus } from './bot/reply/thread-status.ts';
import { PendingLimiter } from './bot/requests/pending-limiter.ts';
import { createBotServer } from './bot/slack/bot-server.ts';
import { createConnection } from './bot/slack/create-connection.ts';
import { Directory } from './bot/slack/directory.ts';
import { RunningTurns } from './bot/turns/running-turns.ts';
import { workHandlers } from './bot/work-handlers.ts';
import type { Settings } from './settings.ts';
import { type EngineOptions, openEngine } from './store/queue/engine.ts';
import { wakingStore } from './store/queue/waking-store.ts';
import { checkServer } from './store/redis/check-server.ts';
import { connectRedis } from './store/redis/connect.ts';
import { onceIn } from './store/redis/once.ts';
import { openRedisStore } from './store/redis/redis-store.ts';
import type { Manifest } from './tools/manifest/manifest.ts';
import type { Secrets } from './tools/secrets.ts';
import { type OpenToolbox, openToolbox } from './tools/toolbox/open-toolbox.ts';
import { redactFields } from './tools/toolbox/protect-tool.ts';

const STOP_TIMEOUT_MS = 20_000;
const STATUS_TIMEOUT_MS = 2_000;
const DEFAULT_INSTRUCTIONS = 'You are a helpful colleague in Slack. Ask when something is unclear.';

export interface BotSetup {
  readonly settings: Settings;
  readonly manifest: Manifest;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  readonly secrets: Secrets;
  readonly logger: Logger;
  /** The prefix of all keys in Redis, so that several bots can share one. */
  readonly prefix?: string;
  readonly timing?: Partial<Timing>;
  /** The timing of the sweep, which finds due work that was not woken. */
  readonly sweep?: EngineOptions['sweep'];
}

export interface RunningBot {
  /** The port of its own HTTP server. */
  readonly port: number;
  readonly context: BotContext;
  readonly toolbox: OpenToolbox;
  /** Accepts nothing new, lets running work finish, and closes every connection. */
  stop(): Promise<void>;
}

/** Wires the rooms together and connects to Redis and Slack; a server that cannot be reached is one error. */
export async function startBot(setup: BotSetup): Promise<RunningBot> {
  const { settings, manifest, folder, secrets, logger, prefix = 'countersign:' } = setup;
  const log = logger.child({ part: 'record' });
  const auditKey = settings.auditKey && (await readSigningKey(settings.auditKey));
  if (auditKey === undefined) log.warn('audit log is not signed: set AUDIT_KEY_FILE or AUDIT_KEY');
  const redis = await connectRedis(settings.redis, { onProblem: (message) => log.warn(message) });
  for (const { severity, setting, message } of await checkServer(redis)) {
    log[severity === 'error' ? 'error' : 'warn']({ setting }, message);
  }
  const record = openRedisStore({ client: redis, prefix, redact: (body) => redactFields(body, secrets) });
  const engine = openEngine({
    settings: settings.redis,
    store: record,
    log,
    prefix,
    ...(setup.sweep !== undefined && { sweep: setup.sweep }),
  });
  const toolbox = await openToolbox(manifest, { folder, secrets, log: logger.child({ part: 'tools' }) });
  const connection = createConnection(settings.slack, { logger, once: onceIn(redis, prefix) });
  const { app } = connection;
  const { model } = manifest.agent;
  const context: BotContext = {
    model: openAIModel({ ...settings.model, ...(model !== undefined && { model }) }),
    // Read for every turn, since the manifest may have been reloaded.
    agent: () => {
      const {
        instructions = DEFAULT_INSTRUCTIONS,
        maxSteps,
        contextBudget,
        limits,
        askers,
        admins,
      } = toolbox.manifest.agent;
      return { instructions, maxSteps, contextBudget, limits, askers, admins };
    },
    toolbox,
    store: wakingStore(record, engine),
    client: app.client,
    directory: new Directory(app.client),
    limiter: new PendingLimiter(record),
    callbacks: new CallbackUrls(settings.publicUrl, settings.callbackSecret),
    turns: new RunningTurns(),
    status: new ThreadStatus(app.client, logger),
    timing: { ...timingFor(settings.crashNoticeSeconds), ...setup.timing },
    logger,
  };
  listen(app, context);

  const server = createBotServer({
    port: settings.port,
    isConnected: () => connection.isReady(),
    redisAnswers: async () => (await redis.ping()) === 'PONG',
    receiveCallback: async (token, body) => answerCallback(await receiveCallback(context, token, body)),
    receive: connection.receive,
    logger,
  });

  const exporter = startExporter({
    store: record,
    settings: () => auditSettings(toolbox.manifest.audit, folder),
    key: auditKey,
    log: logger.child({ part: 'audit' }),
  });

  const stop = async (): Promise<void> => {
    await connection.stop();
    await server.stop();
    const stopped = engine.stop();
    context.turns.handOverAll();
    await Promise.all([stopped, context.turns.idle(STOP_TIMEOUT_MS)]);
    await context.status.idle(STATUS_TIMEOUT_MS);
    await toolbox.close();
    await exporter.stop();
    await record.close();
  };
  try {
    await engine.start(workHandlers(context));
    const port = await server.start();
    await connection.start();
    return { port, context, toolbox, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
