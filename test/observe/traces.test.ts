import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { writeManifest } from '../commands/support.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { CAST, MANIFEST, startStory } from '../stories/support.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { builtProduct } from '../support/built-product.ts';
import { drawTree, startReceiver } from './otlp-receiver.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

let built: string;
beforeAll(async () => {
  built = await builtProduct();
});

/** Runs the bot as production does, until it is told to end. */
async function runBot(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [join(built, 'main.js')], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const connected = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      if (line.includes('connected to Slack')) resolve();
    });
  });
  const ended = once(child, 'close');
  await Promise.race([connected, ended.then(() => Promise.reject(new Error('The bot did not start')))]);
  return {
    lines,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A collector, a Slack and a model for bots that are processes of their own, and the environment that leads to them. */
async function prepare(replies: readonly ModelReply[]) {
  const receiver = await startReceiver();
  onTestFinished(receiver.stop);
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const ping = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };
  const steps = [...replies];
  const story = await startStory({
    // Each start asks the model for a harmless call.
    replies: ({ tools = [] }) =>
      tools.some((tool) => tool.function.name === 'ping') ? ping : (steps.shift() ?? ping),
    withoutBot: true,
  });
  const { slack } = story;
  const environment = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'hidden-word',
    OPENAI_BASE_URL: story.model.url,
    OPENAI_MODEL: 'scripted',
    REDIS_URL: redis.url,
    SHOP_REDIS_URL: `${inject('redisUrl')}?keyPrefix=${story.prefix}shop:`,
    MANIFEST: writeManifest(await withBuiltTools(MANIFEST)),
    PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SERVICE_NAME: 'approvals',
  };
  return { receiver, story, environment };
}

/** The tree that docs/operate.md shows. */
function treeOfDocs(): string[] {
  const page = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8');
  const [, tree = ''] = /```text\n(receive message\n[\s\S]*?)```/.exec(page) ?? [];
  return tree.trimEnd().split('\n');
}

test('one approval across a restart is one trace, from the message to the reply, and says nothing of its content', async () => {
  const { receiver, story, environment } = await prepare([
    {
      calls: [refund],
      usage: { promptTokens: 205, completionTokens: 20, cachedTokens: 64, reasoningTokens: 12 },
    },
    { text: 'Refunded.' },
  ]);
  const first = await runBot(environment);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await first.stop();
  const second = await runBot(environment);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await second.stop();

  expect(receiver.problems).toEqual([]);
  // Slack sends a mention as two events; one of them is a copy, with a trace of its own.
  const root = receiver.spans.find(({ name }) => name === 'invoke_agent countersign');
  const spans = receiver.spans.filter(({ traceId }) => traceId === root?.traceId);
  const tree = drawTree(spans);
  // Look-ups and status lines depend on the time they take; the page leaves them out.
  const steps = tree.filter((line) => !/slack (?!chat\.postMessage)/.test(line));
  expect(steps[0]).toBe('receive message');
  // A card may be drawn once or several times.
  expect(new Set(steps)).toEqual(new Set(treeOfDocs()));
  const find = (name: string) => spans.find((span) => span.name === name);
  expect(find('chat scripted')?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'scripted',
    'gen_ai.usage.input_tokens': expect.anything(),
    'gen_ai.usage.cache_read.input_tokens': 64,
    'gen_ai.usage.reasoning.output_tokens': 12,
    'gen_ai.conversation.id': `${thread.channel}:${thread.ts}`,
  });
  expect(find('execute_tool refund_order')?.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'refund_order',
    'gen_ai.tool.call.id': expect.stringMatching(/./),
    'gen_ai.conversation.id': `${thread.channel}:${thread.ts}`,
  });
  const wait = find('wait for approval');
  const asked = find('invoke_agent countersign');
  // It began in the first process and ended in the second.
  expect(wait?.startedAt).toBeLessThanOrEqual((asked?.endedAt ?? 0) + 1_000);
  expect(wait?.endedAt).toBeGreaterThan(asked?.endedAt ?? 0);
  expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['approvals']));
  expect(JSON.stringify(receiver.spans)).not.toMatch(/A-1001|Refunded|refund order/);
  const approved = second.lines.find((line) => line.includes('request approved'));
  expect(approved).toContain(root?.traceId);
});

test('content is on the spans only if the environment asks for it, and then without secrets', async () => {
  const { receiver, story, environment } = await prepare([
    { calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }] },
    { text: 'The key is hidden-word.' },
  ]);
  const bot = await runBot({ ...environment, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  const thread = story.ask('where is my order?');
  await thread.shows(/The key is/);
  await bot.stop();
  const content = (name: string, attribute: string) =>
    receiver.spans.flatMap((span) => (span.name === name ? [String(span.attributes[attribute])] : []));
  expect(content('chat scripted', 'gen_ai.input.messages').join()).toContain('where is my order?');
  expect(content('chat scripted', 'gen_ai.output.messages').join()).toContain('The key is');
  expect(content('execute_tool read_order', 'gen_ai.tool.call.arguments').join()).toContain('A-1001');
  expect(JSON.stringify(receiver.spans)).not.toContain('hidden-word');
});
