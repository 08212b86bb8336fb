import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const withAgent = (agent: string) => MANIFEST.replace('agent: {', `agent: { ${agent},`);
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: 'broken' } };

describe.each(['responses', 'chat'])('with the API %s', (api) => {
  test('nobody is shown what the model keeps for itself', async () => {
    const story = await startStory({
      manifest: withAgent(`model: { api: ${api} }`),
      replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    });
    const thread = story.ask('refund order A-1001');
    await thread.click(CAST.alice, /Approve/, 'approve');
    await thread.shows(/Refunded\./);
    expect(JSON.stringify(story.workspace.payloads())).not.toMatch(/gAAAA|encrypted|rs_resp/);
  });
});

/** Starts a bot whose log can be read. */
async function startLogged(manifest: string, replies: readonly ModelReply[]) {
  const lines: string[] = [];
  const story = await startStory({ manifest, replies, withoutBot: true });
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  await story.startOwnBot({ logger: pino({ level: 'info' }, sink) });
  return { story, lines };
}

test('the log names the model that answered, and says nothing of its reasoning', async () => {
  const { story, lines } = await startLogged(withAgent('model: { api: responses }'), [{ text: 'Hello.' }]);
  await story.ask('hi').shows(/Hello\./);
  const answered = lines.filter((line) => line.includes('model answered')).map((line) => JSON.parse(line));
  expect(answered).toMatchObject([{ model: 'scripted', finish: 'stop', threadId: expect.any(String) }]);
  expect(lines.join('')).not.toContain('gAAAA');
});

test('a model that is gone leaves the work to the next one, and the log says so', async () => {
  const gone = { message: 'The model `scripted` has been deprecated', code: 'model_not_found' };
  const { story, lines } = await startLogged(withAgent('model: { fallbacks: [gpt-6-luna] }'), [
    { status: 404, body: { error: gone } },
    { text: 'Hello.' },
  ]);
  await story.ask('hi').shows(/Hello\./);
  expect(story.model.requests.map(({ model }) => model)).toEqual(['scripted', 'gpt-6-luna']);
  expect(lines.find((line) => line.includes('asking the next one'))).toContain('has been deprecated');
  expect(lines.find((line) => line.includes('model answered'))).toContain('"model":"gpt-6-luna"');
});

test('a changed manifest changes the model without a restart', async () => {
  const story = await startStory({ replies: [{ text: 'One.' }, { text: 'Two.' }], withoutBot: true });
  const bot = await story.startOwnBot();
  await story.ask('hi').shows(/One\./);
  const { manifest } = bot.toolbox;
  await bot.toolbox.replace({ ...manifest, agent: { ...manifest.agent, model: 'gpt-6-luna' } });
  await story.ask('hi again').shows(/Two\./);
  expect(story.model.requests.map(({ model }) => model)).toEqual(['scripted', 'gpt-6-luna']);
});

const error = (status: number, body: object): ModelReply => ({
  status,
  body: { error: { message: 'No.', ...body } },
});
test.each<[string, ModelReply, RegExp]>([
  [
    'has no quota',
    error(429, { code: 'insufficient_quota' }),
    /no credit left\. An admin needs to top it up/,
  ],
  [
    'is rate limited for long',
    { status: 429, headers: { 'retry-after': '600' } },
    /try again in about 10 minutes/,
  ],
  ['is not known', error(404, { code: 'model_not_found' }), /isn't available\. An admin needs to choose/],
  ['does not take the key', { status: 401 }, /doesn't accept the bot's key/],
  ['filters the request', error(400, { code: 'content_filter' }), /content filter stopped this request/],
  [
    'refuses the request',
    error(400, { message: 'Bad secret-words' }),
    /rejected the request\. An admin can find/,
  ],
  [
    'fails within its answer',
    { chunksRaw: ['data: {"error":{"message":"Overloaded"}}\n\n'] },
    /^The model failed to answer\. Please try again in a moment/,
  ],
  ['finds the thread too long', error(400, { code: 'context_length_exceeded' }), /too long for the model/],
])('a model that %s is told in words for people, without the words of the provider', async (...args) => {
  const [, reply, words] = args;
  const repeated = JSON.stringify(reply).includes('context') ? [reply, reply] : [reply];
  const { story, lines } = await startLogged(MANIFEST, repeated);
  const thread = story.ask('hi');
  const shown = await thread.shows(words);
  expect(shown.text).toMatch(/\(reference .+\)/);
  expect(shown.text).not.toContain('secret-words');
  await expect.poll(() => lines.some((line) => line.includes('model failed'))).toBe(true);
});

test('admins read the words of the provider, once a day for each kind of failure that only they can end', async () => {
  const refused = error(400, { message: 'Unsupported schema <!channel> for `sk-unknown`' });
  const story = await startStory({
    manifest: withAgent(`admins: [${CAST.admin}]`),
    replies: [refused, refused, { status: 503 }, { text: 'Hello.' }],
  });
  for (const words of [/rejected the request/, /rejected the request/, /Hello\./])
    await story.ask('hi').shows(words);
  const direct = story.directly(CAST.admin);
  await direct.shows(/The model needs attention\. .*Unsupported schema/);
  const told = story.workspace.messagesIn(story.workspace.directMessages(CAST.admin));
  expect(told).toHaveLength(1);
  expect(told[0]?.text).not.toContain('<!channel>');
});
