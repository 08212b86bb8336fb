import type { Logger } from 'pino';
import { openAIModel } from './agent/openai-model.ts';
import type { Tool } from './agent/tool.ts';
import { createApp } from './bot/create-app.ts';
import { workHandlers } from './bot/work-handlers.ts';
import type { Settings } from './settings.ts';
import { checkServer } from './store/check-server.ts';
import { connectRedis } from './store/connect.ts';
import { openEngine } from './store/engine.ts';
import type { PolicySnapshot } from './store/port.ts';
import { openRedisStore } from './store/redis-store.ts';
import { wakingStore } from './store/waking-store.ts';

const DAY_MS = 86_400_000;

/** Nobody may sign by this policy: a bot that was not told who may fails closed. */
export const NOBODY: PolicySnapshot = {
  principals: [],
  resolvers: [],
  quorum: 1,
  vetoes: 1,
  selfApproval: false,
  expiresInMs: DAY_MS,
};

export interface BotSetup {
  readonly settings: Settings;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly policy: PolicySnapshot;
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
  const { settings, logger, prefix = 'countersign:', ...parts } = setup;
  const log = logger.child({ part: 'record' });
  const client = await connectRedis(settings.redis, { onProblem: (message) => log.warn(message) });
  for (const { severity, setting, message } of await checkServer(client)) {
    log[severity === 'error' ? 'error' : 'warn']({ setting }, message);
  }
  const record = openRedisStore({ client, prefix });
  const engine = openEngine({ settings: settings.redis, store: record, log, prefix });
  const store = wakingStore(record, engine);
  const app = createApp(settings.slack, store, logger);

  const stop = async (): Promise<void> => {
    await app.stop();
    await engine.stop();
    await store.close();
  };
  try {
    const model = openAIModel(settings.model);
    await engine.start(workHandlers({ ...parts, model, store, client: app.client, logger }));
    await app.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
