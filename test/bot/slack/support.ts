import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import {
  type LocalSlack,
  type LocalSlackOptions,
  startLocalSlack,
} from '../../../playground/slack/start-local-slack.ts';
import {
  type Connection,
  type ConnectionDependencies,
  type ConnectionSettings,
  createConnection,
} from '../../../src/bot/slack/create-connection.ts';
import type { Once } from '../../../src/bot/slack/http-receiver.ts';
import { type ProbeOptions, probes } from '../../../src/http/probes.ts';
import { createHttpServer, type HttpServerOptions } from '../../../src/http/server.ts';
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
export function connectionFor(
  settings: ConnectionSettings,
  once: Once = async () => true,
  changes: Pick<ConnectionDependencies, 'patienceMs'> = {},
): Connection {
  const connection = createConnection(settings, { logger, once, metrics: new Metrics(), ...changes });
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
export async function serverForTest({
  parts = [],
  stopMs,
  requestMs,
  ...watched
}: Partial<ProbeOptions & HttpServerOptions> = {}) {
  const watchers = probes({
    isConnected: () => true,
    refusedWrite: async () => undefined,
    toolProblems: () => 0,
    unsigned: () => undefined,
    metrics: async () => ({ status: 200, body: '' }),
    ...watched,
  });
  const server = createHttpServer({
    port: 0,
    parts: [watchers, ...parts],
    logger,
    ...(stopMs !== undefined && { stopMs }),
    ...(requestMs !== undefined && { requestMs }),
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
