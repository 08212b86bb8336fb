import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Metrics } from '../../src/observe/metrics.ts';
import { METRICS } from '../../src/observe/metrics-table.ts';
import { setGauges, setSurroundings } from '../../src/observe/observe-record.ts';
import type { RunningBot } from '../../src/start-bot.ts';
import { readMemory } from '../../src/store/redis/check-server.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { ask } from '../store/support.ts';
import { CAST, startStory } from '../stories/support.ts';
import { connectTestRedis } from '../support/redis.ts';
import { parseExposition, type Sample } from './exposition.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const usage = { promptTokens: 120, completionTokens: 30 };

async function scrape({ port }: RunningBot) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const { types, samples } = parseExposition(text);
  const find = (name: string, labels: Readonly<Record<string, string>> = {}): Sample | undefined =>
    samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return { text, types, value: (...args: Parameters<typeof find>) => find(...args)?.value };
}

describe('the metrics of a bot', () => {
  test('tell of one approved action from the request to the effect, and each fits the table', async () => {
    const story = await startStory({
      replies: [{ calls: [refund] }, { text: 'Refunded.' }],
      withoutBot: true,
    });
    const bot = await story.startOwnBot();
    const thread = story.ask('refund order A-1001');
    await thread.shows(/Approval needed/);
    const waiting = await scrape(bot);
    expect(waiting.value('countersign_requests_open', { state: 'pending' })).toBe(1);
    expect(waiting.value('countersign_record_up')).toBe(1);

    await thread.click(CAST.alice, /Approval needed/, 'approve');
    await thread.shows(/Refunded\./);
    const { text, types, value } = await scrape(bot);
    const labels = { policy: 'default', tool: 'refund_order' };
    for (const state of ['pending', 'approved', 'started', 'succeeded'])
      expect(value('countersign_request_transitions_total', { ...labels, state }), state).toBe(1);
    expect(value('countersign_request_decision_seconds_count', { policy: 'default' })).toBe(1);
    expect(value('countersign_request_effect_seconds_count', { tool: 'refund_order' })).toBe(1);
    expect(value('countersign_requests_open', { state: 'pending' })).toBe(0);
    expect(value('countersign_requests_open', { state: 'unknown' })).toBe(0);
    expect(value('countersign_turns_total', { outcome: 'suspended' })).toBe(1);
    expect(value('countersign_model_calls_total', { model: 'scripted' })).toBe(2);
    expect(value('countersign_tool_calls_total', { tool: 'refund_order', outcome: 'succeeded' })).toBe(1);
    expect(
      value('countersign_slack_calls_total', { method: 'chat.postMessage', status: '200' }),
    ).toBeGreaterThan(0);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    for (const [name, { kind }] of Object.entries(METRICS)) expect(types.get(name), name).toBe(kind);
    expect(text).not.toContain('A-1001');
  });

  test('are served only with the token, if one is set', async () => {
    const story = await startStory({ withoutBot: true });
    const metricsToken = 'a token of the operator';
    const { port } = await story.startOwnBot({ settings: { ...story.setup.settings, metricsToken } });
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).status;
    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: 'Bearer another token' })).toBe(401);
    expect(await statusWith({ authorization: metricsToken })).toBe(401);
    expect(await statusWith({ authorization: `Bearer ${metricsToken}` })).toBe(200);
  });

  test('count tokens, retries of the model and rate limits of Slack', async () => {
    const story = await startStory({
      replies: [{ status: 503 }, { text: 'Hello.', usage }],
      withoutBot: true,
    });
    const bot = await story.startOwnBot();
    story.workspace.rateLimit('chat.postMessage', { calls: 1, retryAfterSeconds: 1 });
    const thread = story.ask('hello');
    await thread.shows(/Hello\./);
    const { value } = await scrape(bot);
    expect(value('countersign_model_retries_total', { model: 'scripted' })).toBe(1);
    expect(value('countersign_model_tokens_total', { kind: 'input' })).toBe(120);
    expect(value('countersign_model_tokens_total', { kind: 'output' })).toBe(30);
    expect(value('countersign_slack_calls_total', { method: 'chat.postMessage', status: '429' })).toBe(1);
  });

  test('say that the record cannot be measured while Redis is away, and keep their last values', async () => {
    const redis = connectTestRedis();
    onTestFinished(() => redis.client.disconnect());
    const metrics = new Metrics();
    const record = openRedisStore(redis);
    await ask(record);
    await setGauges(record, metrics);
    expect(await metrics.text()).toMatch(/^countersign_record_up 1$/m);
    redis.client.disconnect();
    await setGauges(record, metrics);
    const text = await metrics.text();
    expect(text).toMatch(/^countersign_record_up 0$/m);
    expect(text).toMatch(/^countersign_requests_open\{state="pending"\} 1$/m);
  });

  test('say that Slack cannot reach the bot, refuses its token, and that the model refuses its key', async () => {
    const story = await startStory({ replies: [{ text: 'Hello.' }, { status: 401 }], withoutBot: true });
    const bot = await story.startOwnBot();
    const { workspace } = story;
    await story.ask('hello').shows(/Hello\./);
    const before = await scrape(bot);
    for (const name of ['slack_connected', 'slack_token_accepted', 'model_key_accepted'])
      expect(before.value(`countersign_${name}`), name).toBe(1);
    const failed = story.ask('hello again');
    await expect
      .poll(async () => (await scrape(bot)).value('countersign_model_key_accepted', { model: 'scripted' }))
      .toBe(0);
    await failed.shows(/model/);
    await story.deliveredAll();
    workspace.revokeToken();
    workspace.as(CAST.admin).openHome();
    await expect.poll(async () => (await scrape(bot)).value('countersign_slack_token_accepted')).toBe(0);
    workspace.fail('apps.connections.open', { kind: 'refuse', error: 'internal_error' }, { calls: 1_000 });
    workspace.disconnectSockets('refresh_requested');
    await expect.poll(async () => (await scrape(bot)).value('countersign_slack_connected')).toBe(0);
  });

  test('follow a maxmemory that is set and taken back', async () => {
    const { url, stop } = await startPrivateRedis(plainArguments);
    onTestFinished(stop);
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    const metrics = new Metrics();
    const max = async (bytes: number) => {
      await redis.config('SET', 'maxmemory', bytes);
      await setSurroundings(
        {
          refusedWrite: async () => undefined,
          memory: () => readMemory(redis),
          toolProblems: () => 0,
          isConnected: () => true,
        },
        metrics,
      );
      return /kind="max"\} (\d+)/.exec(await metrics.text())?.[1];
    };
    expect(await max(1_000_000_000)).toBe('1000000000');
    expect(await max(2_000_000_000)).toBe('2000000000');
    expect(await max(0)).toBeUndefined();
  });
});
