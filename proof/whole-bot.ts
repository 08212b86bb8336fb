import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { ReplyFunction } from '../playground/model/model-reply.ts';
import { type LocalModel, startLocalModel } from '../playground/model/start-local-model.ts';
import { bringUpRedis } from '../playground/redis/bring-up-redis.ts';
import { appFromManifest } from '../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import { type LocalSlack, startLocalSlack } from '../playground/slack/start-local-slack.ts';
import type { Workspace } from '../playground/slack/workspace.ts';
import { type RunningBot, startBot } from '../src/start-bot.ts';
import { parseManifest } from '../src/tools/manifest/parse.ts';
import { formatProblem } from '../src/tools/manifest/problem.ts';
import { SHIPPED_SLACK } from '../src/tools/manifest/schema/slack.ts';
import { Secrets } from '../src/tools/secrets.ts';
import type { Known } from '../test/hostile/oracle.ts';
import { PATIENT_SLACK } from '../test/support/patience.ts';

/** The people and places that a record may name, and where links of the bot may lead. */
export const KNOWN: Known = {
  ids: [...Object.values(CAST), ...Object.values(CHANNELS)],
  links: /^https?:\/\/[^/]+\/archives\//,
};

export interface WholeBot {
  readonly workspace: Workspace;
  readonly model: LocalModel;
  readonly bot: RunningBot;
  stop(): Promise<void>;
}

interface WholeBotOptions {
  readonly manifest: object;
  readonly replies: ReplyFunction;
  /** Whether Slack posts to the bot or talks to it over sockets. */
  readonly mode: 'http' | 'socket';
}

/** Starts the whole product with a Slack, a model and a Redis of its own. */
export async function startWholeBot({ manifest, replies, mode }: WholeBotOptions): Promise<WholeBot> {
  const parsed = parseManifest(JSON.stringify(manifest), { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  // Always a Redis of its own, whatever REDIS_URL names.
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const slack = await startLocalSlack({
    timings: PATIENT_SLACK,
    app: { ...appFromManifest(SHIPPED_SLACK), socketMode: mode === 'socket' },
  });
  const model = await startLocalModel({ script: replies });
  const bot = await startBot({
    settings: {
      slack: slackSettings(slack, mode),
      model: { model: 'scripted', apiKey: 'test', baseURL: model.url, silenceMs: 120_000 },
      redis: { mode: 'single', urls: [redis.url] },
      manifest: 'manifest.yml',
      port: 0,
      publicUrl: 'http://localhost',
      callbackSecret: 'the callback secret of the suites, long enough',
      crashNoticeSeconds: 30,
      logLevel: 'silent',
    },
    manifest: parsed.manifest,
    folder: fileURLToPath(new URL('..', import.meta.url)),
    secrets: new Secrets(),
    logger: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    prefix: `proof-${randomUUID()}:`,
    timing: { ackWithinMs: { click: 30_000, submission: 30_000 } },
    captureContent: true,
  });
  if (mode === 'http') await slack.workspace.changeRequestUrl(`http://127.0.0.1:${bot.port}/slack/events`);
  return {
    workspace: slack.workspace,
    model,
    bot,
    async stop() {
      await bot.stop();
      await slack.stop();
      await model.stop();
      await redis.stop();
    },
  };
}

function slackSettings({ botToken, appToken, signingSecret, apiUrl }: LocalSlack, mode: 'http' | 'socket') {
  return mode === 'http'
    ? ({ mode, botToken, signingSecret, apiUrl } as const)
    : ({ mode, botToken, appToken, apiUrl } as const);
}
