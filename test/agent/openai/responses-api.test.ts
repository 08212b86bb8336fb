import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Dialect } from '../../../playground/model/dialects.ts';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { generate, type OpenAIModelOptions, openAIModel } from '../../../src/index.ts';
import { buildTools, call, calls, clientOf, says, stored } from '../support.ts';
import { rounds, start, wholeThread } from './support.ts';

/** A client that believes to speak with OpenAI itself. */
function atOpenAI(url: string, options: Partial<OpenAIModelOptions> = {}) {
  const baseURL = 'https://api.openai.com/v1';
  return openAIModel({
    model: 'scripted',
    apiKey: 'test',
    baseURL,
    firstRetryMs: 1,
    fetch: (input, init) => fetch(String(input).replace(baseURL, url), init),
    ...options,
  });
}

describe('the Responses API', () => {
  it('gets every item of an answer back in its order, with its reasoning, also after a pause', async () => {
    const server = await start(rounds);
    await wholeThread(clientOf(server, { api: 'responses' }));
    expect(server.refusals).toEqual([]);
    expect(server.bodies.map(({ path }) => path)).toEqual(Array(3).fill('/v1/responses'));
    const sent = z
      .object({ input: z.array(z.looseObject({ type: z.string() })), instructions: z.string() })
      .parse(server.bodies.at(-1)?.body);
    expect(sent.input.map(({ type }) => type)).toEqual([
      'message',
      'reasoning',
      'message',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
      'reasoning',
      'function_call',
      'function_call_output',
    ]);
    expect(sent.instructions).toBe('Help.');
  });

  it('gets a plain history from a model that gave no reasoning', async () => {
    const server = await start(rounds, { reasons: false });
    const messages = await wholeThread(clientOf(server, { api: 'responses' }));
    expect(JSON.stringify(messages)).not.toContain('provider');
  });

  it('keeps reasoning out of the text, and counts it apart', async () => {
    const usage = { promptTokens: 10, completionTokens: 8, cachedTokens: 4, reasoningTokens: 6 };
    const server = await start([{ text: 'Hi.', usage }]);
    const deltas: string[] = [];
    const model = clientOf(server, { api: 'responses' });
    const response = await generate({ model, prompt: 'Go', onText: (delta) => deltas.push(delta) });
    expect(deltas.join('')).toBe('Hi.');
    expect(response.usage).toEqual({
      inputTokens: 10,
      outputTokens: 8,
      totalTokens: 18,
      cachedTokens: 4,
      reasoningTokens: 6,
    });
    expect(response.newMessages.at(-1)).toMatchObject({
      content: [{ text: 'Hi.' }],
      provider: { origin: expect.stringMatching(/^responses 127\.0\.0\.1.* scripted$/) },
    });
  });

  it('gets no reasoning of another model', async () => {
    const server = await start([calls(call('c1', 'look', { key: 'a' })), says('One.'), says('Two.')]);
    const { tools } = buildTools();
    const first = clientOf(server, { api: 'responses' });
    const { messages } = await generate({ model: first, tools, prompt: 'Go' });
    const second = clientOf(server, { api: 'responses', model: 'gpt-6-luna' });
    const other = await generate({ model: second, tools, messages: stored(messages), prompt: 'And?' });
    expect(other.text).toBe('Two.');
    expect(JSON.stringify(server.bodies.at(-1)?.body)).not.toContain('encrypted_content":');
    expect(server.refusals).toEqual([]);
  });

  it('that cannot read its reasoning any more is asked again without it', async () => {
    const first = await start([calls(call('c1', 'look', { key: 'a' })), says('One.')]);
    const { tools } = buildTools();
    const asked = { model: atOpenAI(first.url), tools, prompt: 'Go' };
    const { messages } = await generate(asked);
    const second = await start([says('Two.')]);
    const other = await generate({ model: atOpenAI(second.url), tools, messages, prompt: 'And?' });
    expect(other.text).toBe('Two.');
    expect(second.refusals.map(({ problem }) => problem.code)).toEqual(['invalid_encrypted_content']);
  });

  it.each<[string, ModelReply, string, string]>([
    ['the length limit', { text: 'Once', finishReason: 'length' }, 'length', 'Once'],
    ['the content filter', { text: 'I', finishReason: 'content_filter' }, 'content-filter', 'I'],
    ['a refusal', { refusal: 'I cannot.' }, 'refusal', 'I cannot.'],
    ['a cut', { text: ['Hel', 'lo'], cut: 6 }, 'cut-stream', 'Hel'],
    ['nothing', { text: '' }, 'empty-choice', ''],
  ])('that ends with %s is told apart', async (_title, reply, finishReason, text) => {
    const server = await start([reply]);
    const response = await generate({ model: clientOf(server, { api: 'responses' }), prompt: 'Go' });
    expect(response).toMatchObject({ finishReason, text });
  });

  it('never has a call run that was cut off', async () => {
    const script = [
      { calls: [call('c1', 'look', { key: 'a' })], finishReason: 'length' as const },
      { calls: [call('c2', 'look', { key: 'b' })], cut: 8 },
    ];
    const server = await start(script);
    const { ran, tools } = buildTools();
    const response = await generate({ model: clientOf(server, { api: 'responses' }), tools, prompt: 'Go' });
    expect(response.finishReason).toBe('cut-stream');
    expect(ran).toEqual([]);
    expect(JSON.stringify(response.messages)).not.toContain('provider');
  });
});

describe('events of the Responses API', () => {
  const event = (body: { readonly type: string; readonly [key: string]: unknown }) =>
    `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
  const text = { type: 'output_text', text: 'Hi.', annotations: [] };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] };
  const completed = (output: object[]) =>
    event({ type: 'response.completed', response: { status: 'completed', output } });
  const done = event({ type: 'response.output_item.done', output_index: 0, item: message });

  it.each<[string, string[]]>([
    [
      'that nobody knows are ignored',
      [event({ type: 'keepalive' }), event({ type: 'response.new' }), done, completed([])],
    ],
    ['without deltas bring the text of their items', [done, completed([message])]],
    ['without items bring those of the last event', [completed([message])]],
  ])('%s', async (_title, chunksRaw) => {
    const server = await start([{ chunksRaw }]);
    const response = await generate({ model: clientOf(server, { api: 'responses' }), prompt: 'Go' });
    expect(response).toMatchObject({ finishReason: 'stop', text: 'Hi.' });
  });

  it('that say two things keep them apart', async () => {
    const comment = { ...message, phase: 'commentary' };
    const answer = { ...message, id: 'msg_2', phase: 'final_answer', content: [{ ...text, text: 'Yes.' }] };
    const items = [comment, answer].map((item, index) =>
      event({ type: 'response.output_item.done', output_index: index, item }),
    );
    const server = await start([{ chunksRaw: [...items, completed([])] }, says('Bye.')]);
    const model = clientOf(server, { api: 'responses' });
    const { messages, text: said } = await generate({ model, prompt: 'Go' });
    expect(said).toBe('Hi.\n\nYes.');
    await generate({ model, messages, prompt: 'And?' });
    expect(server.bodies.at(-1)?.body).toMatchObject({
      input: [
        { role: 'user' },
        { role: 'assistant', content: 'Hi.', phase: 'commentary' },
        { role: 'assistant', content: 'Yes.', phase: 'final_answer' },
        { role: 'user' },
      ],
    });
  });

  const overloaded = { code: 'server_is_overloaded', message: 'Overloaded' };
  it.each([
    ['nested', event({ type: 'error', error: overloaded })],
    ['flat', event({ type: 'error', ...overloaded })],
    [
      'in a failed response',
      event({ type: 'response.failed', response: { status: 'failed', error: overloaded } }),
    ],
  ])('with an error, %s, before anything else are asked for again', async (_title, failed) => {
    const server = await start([{ chunksRaw: [failed] }, says('Hi.')]);
    const response = await generate({ model: clientOf(server, { api: 'responses' }), prompt: 'Go' });
    expect(response).toMatchObject({ finishReason: 'stop', text: 'Hi.' });
  });

  it('with an error after some text keep the text', async () => {
    const delta = event({ type: 'response.output_text.delta', output_index: 0, delta: 'Hel' });
    const server = await start([{ chunksRaw: [delta, event({ type: 'error', ...overloaded })] }]);
    const response = await generate({ model: clientOf(server, { api: 'responses' }), prompt: 'Go' });
    expect(response).toMatchObject({
      finishReason: 'model-error',
      text: 'Hel',
      error: { code: 'unavailable' },
    });
  });
});

describe('a reasoning model of OpenAI', () => {
  const dialect: Dialect = 'reasoning';

  it('is asked by Responses from the start at OpenAI', async () => {
    const server = await start(rounds, { dialect });
    await wholeThread(atOpenAI(server.url));
    expect(server.refusals).toEqual([]);
  });

  it('behind another address is asked by Responses once Chat Completions refuses its tools', async () => {
    const server = await start(rounds, { dialect });
    await wholeThread(clientOf(server));
    expect(server.refusals).toHaveLength(1);
    expect(server.bodies.map(({ path }) => path)).toEqual(Array(3).fill('/v1/responses'));
  });

  it('that must be asked by Chat Completions is asked not to reason', async () => {
    const server = await start(rounds, { dialect });
    await wholeThread(clientOf(server, { api: 'chat' }));
    expect(server.refusals).toHaveLength(1);
    expect(server.bodies.at(-1)?.body).toMatchObject({ reasoning_effort: 'none' });
  });
});

it('a server without the Responses API is asked by Chat Completions', async () => {
  const server = await start(rounds, { withoutResponses: true });
  await wholeThread(atOpenAI(server.url));
  expect(server.refusals).toHaveLength(1);
});
