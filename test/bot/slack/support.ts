import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import {
  type LocalSlack,
  type LocalSlackOptions,
  startLocalSlack,
} from '../../../playground/slack/start-local-slack.ts';
import { type BotServerOptions, createBotServer } from '../../../src/bot/slack/bot-server.ts';
import {
  type Connection,
  type ConnectionSettings,
  createConnection,
} from '../../../src/bot/slack/create-connection.ts';
import type { Once } from '../../../src/bot/slack/http-receiver.ts';
import { Metrics } from '../../../src/observe/metrics.ts';
import { PATIENT_SLACK } from '../../support/patience.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';

export const logger = pino({ level: 'silent' });

export async function slackForTest(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const slack = await startLocalSlack({ ...options, timings: { ...PATIENT_SLACK, ...options.timings } });
  onTestFinished(slack.stop);
  return slack;
}

export function redisForTest(): TestRedis {
  const redis = connectTestRedis();
  onTestFinished(redis.close);
  return redis;
}

/** A key is taken once, by Redis. */
export function onceIn({ client, prefix }: TestRedis): Once {
  return async (key, ttlMs) => (await client.set(`${prefix}${key}`, '1', 'PX', ttlMs, 'NX')) === 'OK';
}

/** A connection that is not open yet; it is stopped when the test ends. */
export function connectionFor(settings: ConnectionSettings, once: Once = async () => true): Connection {
  const connection = createConnection(settings, { logger, once, metrics: new Metrics() });
  onTestFinished(() => connection.stop());
  return connection;
}

export function socketSettings({ botToken, appToken, apiUrl }: LocalSlack) {
  return { mode: 'socket', botToken, appToken, apiUrl } as const;
}

export function httpSettings({ botToken, signingSecret, apiUrl }: LocalSlack) {
  return { mode: 'http', botToken, signingSecret, apiUrl } as const;
}

/** The bot's server on a free port, with everything in order unless a test says otherwise. */
export async function serverForTest(options: Partial<BotServerOptions> = {}) {
  const server = createBotServer({
    port: 0,
    isConnected: () => true,
    refusedWrite: async () => undefined,
    toolProblems: () => 0,
    metrics: async () => ({ status: 200, body: '' }),
    receiveCallback: async () => ({ status: 200, body: '' }),
    connect: async () => undefined,
    receive: undefined,
    logger,
    ...options,
  });
  const port = await server.start();
  onTestFinished(() => server.stop());
  return { server, url: `http://127.0.0.1:${port}` };
}

/** Posts a card with one button and tells where it stands. */
export async function postButton({ app }: Connection): Promise<{ channel: string; ts: string }> {
  const button = {
    type: 'button',
    action_id: 'approve',
    text: { type: 'plain_text', text: 'Approve' },
  } as const;
  const channel = CHANNELS.general;
  const posted = await app.client.chat.postMessage({
    channel,
    text: 'Approve?',
    blocks: [{ type: 'actions', elements: [button] }],
  });
  return { channel, ts: posted.ts ?? '' };
}
