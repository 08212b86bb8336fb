import type { Logger } from 'pino';
import { openAIModel } from './agent/openai-model.ts';
import type { BotParts } from './bot/bot-parts.ts';
import { CallbackUrls } from './bot/callbacks/callback-urls.ts';
import { createApp } from './bot/create-app.ts';
import { listen } from './bot/listen.ts';
import { Directory } from './bot/people/directory.ts';
import { RunningTurns } from './bot/running-turns.ts';
import { workHandlers } from './bot/work-handlers.ts';
import type { Settings } from './settings.ts';
import { checkServer } from './store/check-server.ts';
import { connectRedis } from './store/connect.ts';
import { openEngine } from './store/engine.ts';
import { openRedisLedger } from './store/redis-ledger.ts';
import { openRedisStore } from './store/redis-store.ts';
import { wakingStore } from './store/waking-store.ts';
import type { Manifest } from './tools/manifest/manifest.ts';
import { openToolbox } from './tools/open-toolbox.ts';
import type { Secrets } from './tools/secrets.ts';

const INSTRUCTIONS = 'You are a helpful colleague in Slack. Ask when something is unclear.';

export interface BotSetup {
  readonly settings: Settings;
  readonly manifest: Manifest;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  readonly secrets: Secrets;
  readonly logger: Logger;
  /** What the keys in Redis begin with, so that several bots can share one. */
  readonly prefix?: string;
}

export interface RunningBot {
  /** Takes nothing new, lets what runs come to its end, and closes every connection. */
  stop(): Promise<void>;
}

/** Wires the rooms together and connects to Redis and Slack; what it cannot reach is one error, and nothing stays open. */
export async function startBot(setup: BotSetup): Promise<RunningBot> {
  const { settings, manifest, folder, secrets, logger, prefix = 'countersign:' } = setup;
  const log = logger.child({ part: 'record' });
  const redis = await connectRedis(settings.redis, { onProblem: (message) => log.warn(message) });
  for (const { severity, setting, message } of await checkServer(redis)) {
    log[severity === 'error' ? 'error' : 'warn']({ setting }, message);
  }
  const record = openRedisStore({ client: redis, prefix });
  const ledger = openRedisLedger(redis, prefix);
  await ledger.fill();
  const engine = openEngine({ settings: settings.redis, store: record, log, prefix });
  const toolbox = await openToolbox(manifest, { folder, secrets, log: logger.child({ part: 'tools' }) });
  const app = createApp(settings.slack, logger);
  const { model, instructions = INSTRUCTIONS, maxSteps, contextBudget } = manifest.agent;
  const parts: BotParts = {
    model: openAIModel({ ...settings.model, ...(model !== undefined && { model }) }),
    agent: () => ({ instructions, maxSteps, contextBudget }),
    toolbox,
    services: { ledger },
    store: wakingStore(record, engine),
    client: app.client,
    directory: new Directory(app.client),
    callbacks: new CallbackUrls(settings.publicUrl, settings.slack.botToken),
    turns: new RunningTurns(),
    logger,
  };
  listen(app, parts);

  const stop = async (): Promise<void> => {
    await app.stop();
    await engine.stop();
    await toolbox.close();
    await record.close();
  };
  try {
    await engine.start(workHandlers(parts));
    await app.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
