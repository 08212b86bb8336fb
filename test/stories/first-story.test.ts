import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type LocalModel, startLocalModel } from '../../playground/model/start-local-model.ts';
import { CAST, PLACES } from '../../playground/slack/default-cast.ts';
import { type LocalSlack, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { defineTool } from '../../src/agent/define-tool.ts';
import { NOBODY, type RunningBot, startBot } from '../../src/start-bot.ts';
import { askQuestion } from '../../src/tools/ask-question.ts';
import { requireApproval } from '../../src/tools/require-approval.ts';

const refunds: { orderId: string; amount: number }[] = [];
const refundOrder = requireApproval(
  defineTool(
    {
      name: 'refund_order',
      description: 'Refunds an order.',
      inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
      outputSchema: z.object({ refunded: z.number() }),
    },
    (input) => {
      refunds.push(input);
      return { refunded: input.amount };
    },
  ),
);

let slack: LocalSlack;
let model: LocalModel;
let bot: RunningBot;

beforeEach(async () => {
  refunds.length = 0;
  slack = await startLocalSlack({});
  model = await startLocalModel();
});
afterEach(async () => {
  await bot.stop();
  await slack.stop();
  await model.stop();
});

async function start(): Promise<void> {
  bot = await startBot({
    settings: {
      slack: { botToken: slack.botToken, appToken: slack.appToken, apiUrl: slack.apiUrl },
      model: { model: 'scripted', apiKey: 'test', baseURL: model.url },
      redis: { mode: 'single', urls: [inject('redisUrl')] },
      logLevel: 'silent',
    },
    instructions: 'Help.',
    prefix: `story-${randomUUID()}:`,
    tools: [refundOrder, askQuestion],
    policy: { ...NOBODY, principals: [CAST.alice, CAST.bruno] },
    logger: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
  });
}

const say = (text: string) =>
  slack.workspace.as(CAST.requester).say(PLACES.general, `<@${slack.workspace.state.app.botUserId}> ${text}`);

/** Waits until the thread has a message whose text fits, and gives it. */
const reply = (threadTs: string, text: RegExp) =>
  slack.workspace.until(
    () => slack.workspace.messagesIn(PLACES.general, threadTs).find((message) => text.test(message.text)),
    { what: String(text) },
  );

test('an approved action runs once, exactly as shown, and the reply arrives in the thread', async () => {
  model.say(
    {
      text: 'I will refund it.',
      calls: [{ name: 'refund_order', arguments: { orderId: 'A1', amount: 120 } }],
    },
    { text: 'Refunded 120.' },
  );
  await start();
  const { ts } = await say('refund order A1');

  const card = await reply(ts, /^Approval needed: refund_order/);
  expect(JSON.stringify(card.blocks)).toContain('A1');
  expect(refunds).toEqual([]);
  await slack.workspace.as(CAST.alice).click({ channel: PLACES.general, ts: card.ts }, 'approve');

  await reply(ts, /^Refunded 120/);
  expect(refunds).toEqual([{ orderId: 'A1', amount: 120 }]);
  const settled = await reply(ts, /^refund_order: succeeded/);
  expect(settled.ts).toBe(card.ts);
  expect(JSON.stringify(settled.blocks)).toContain(CAST.alice);
});

test('a rejected action never runs, and the model is told', async () => {
  model.say(
    { calls: [{ name: 'refund_order', arguments: { orderId: 'A2', amount: 5 } }] },
    { text: 'Nobody wanted that.' },
  );
  await start();
  const { ts } = await say('refund order A2');
  const card = await reply(ts, /^Approval needed/);
  await slack.workspace.as(CAST.bruno).click({ channel: PLACES.general, ts: card.ts }, 'reject');

  await reply(ts, /^Nobody wanted that/);
  expect(refunds).toEqual([]);
  const told = model.requests.at(-1)?.messages.find((message) => message.role === 'tool');
  expect(told?.content).toContain('denied');
});

test('a question is answered with a button, and the answer reaches the model', async () => {
  model.say(
    { calls: [{ name: 'ask_question', arguments: { question: 'Which one?', choices: ['Red', 'Blue'] } }] },
    { text: 'Blue it is.' },
  );
  await start();
  const { ts } = await say('buy me a bicycle');
  const card = await reply(ts, /^Which one\?$/);
  await slack.workspace.as(CAST.requester).click({ channel: PLACES.general, ts: card.ts }, 'choose:1');

  await reply(ts, /^Blue it is/);
  const told = model.requests.at(-1)?.messages.find((message) => message.role === 'tool');
  expect(told?.content).toBe('Blue');
});

test('the requester and strangers to the policy cannot sign, and are told so in private', async () => {
  model.say({ calls: [{ name: 'refund_order', arguments: { orderId: 'A3', amount: 9 } }] });
  await start();
  const { ts } = await say('refund order A3');
  const card = await reply(ts, /^Approval needed/);
  for (const who of [CAST.requester, CAST.admin]) {
    await slack.workspace.as(who).click({ channel: PLACES.general, ts: card.ts }, 'approve');
    await slack.workspace.until(() => slack.workspace.ephemeralsFor(who).length > 0, {
      what: `a notice for ${who}`,
    });
  }
  expect(refunds).toEqual([]);
});
