import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { userMessage } from '../../../src/agent/messages.ts';
import { defaultContextBudget, reasons } from '../../../src/agent/openai/known-models.ts';
import { generate } from '../../../src/index.ts';
import { buildTools, clientOf, says } from '../support.ts';
import { ask, chunk, serve, streaming } from './compatible-server.ts';
import { rounds, start, wholeThread } from './support.ts';

const refusal = (message: string, status = 400, param: string | null = null): ModelReply => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param, code: null } },
});
const paths = (server: Awaited<ReturnType<typeof start>>) => server.bodies.map(({ path }) => path);
const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';

describe('a model without reasoning, at Responses', () => {
  it('is not asked for reasoning any more once it has refused', async () => {
    const server = await start(rounds, { reasons: false });
    await wholeThread(clientOf(server, { api: 'responses' }));
    expect(server.refusals.map(({ problem }) => problem.message)).toEqual([
      'Encrypted content is not supported with this model.',
    ]);
  });

  it('is not asked at all if its name is known', () => {
    expect(
      ['gpt-4.1', 'gpt-4o-mini', 'openai/gpt-4o', 'gpt-5', 'o4-mini', 'my-deployment'].map(reasons),
    ).toEqual([false, false, false, true, true, true]);
    expect(defaultContextBudget(['gpt-4.1'])).toBeGreaterThan(100_000);
  });
});

describe('"auto"', () => {
  it('comes back to chat from a gateway that has no Responses, and does without an effort', async () => {
    const server = await start(rounds, { dialect: 'reasoning', withoutResponses: true });
    await wholeThread(clientOf(server, { api: 'auto' }));
    expect(new Set(paths(server))).toEqual(new Set([CHAT]));
    expect(server.refusals).toHaveLength(3);
  });

  it.each([
    ['This model is only supported in v1/responses and not in v1/chat/completions.', 404, 'model'],
    [
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
      404,
      'model',
    ],
    [
      'Unsupported legacy protocol: /v1/chat/completions is not supported. Please use /v1/responses.',
      400,
      null,
    ],
    [
      "Function tools with reasoning_effort are not supported for gpt-6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      400,
      null,
    ],
  ])('goes to Responses after "%s"', async (message, status, param) => {
    const server = await start([refusal(message, status, param), says('Done.')]);
    const { tools } = buildTools();
    const { text } = await generate({ model: clientOf(server, { api: 'auto' }), tools, prompt: 'Go' });
    expect([text, paths(server)]).toEqual(['Done.', [CHAT, RESPONSES]]);
  });
});

it.each([
  ['chat', "Unsupported value: 'temperature' does not support 0.8 with this model."],
  ['chat', 'Unrecognized request argument supplied: temperature'],
  [
    'chat',
    '[{"type":"extra_forbidden","loc":["body","temperature"],"msg":"Extra inputs are not permitted"}]',
  ],
  ['responses', "Unsupported parameter: 'temperature' is not supported with this model."],
] as const)(
  'a refusal at %s that names its parameter only in words is understood: %s',
  async (api, message) => {
    const server = await start([refusal(message), says('Done.')]);
    const model = clientOf(server, { api, config: { temperature: 0.8 } });
    const { text } = await generate({ model, prompt: 'Go' });
    expect(text).toBe('Done.');
    expect(JSON.stringify(server.bodies.at(-1)?.body)).not.toContain('temperature');
  },
);

const PDF = 'data:application/pdf;base64,JVBERi0xLjQK';
it.each([
  ['responses', { type: 'input_file', filename: 'document.pdf', file_data: PDF }],
  ['chat', { type: 'file', file: { filename: 'document.pdf', file_data: PDF } }],
] as const)('a PDF is sent to %s as a file', async (api, part) => {
  const server = await start([says('Read.')]);
  const messages = [
    userMessage('Read it.', undefined, { media: [{ url: PDF, contentType: 'application/pdf' }] }),
  ];
  await generate({ model: clientOf(server, { api }), messages });
  expect(JSON.stringify(server.bodies[0]?.body)).toContain(JSON.stringify(part));
});

it('every request of a conversation has the same key for the cache, and another conversation another one', async () => {
  const server = await start([says('One.'), says('Two.'), says('Three.')]);
  const model = clientOf(server, { api: 'responses' });
  const { messages } = await generate({ model, prompt: 'Go' });
  await generate({ model, messages, prompt: 'Again' });
  await generate({ model, prompt: 'Other' });
  const keys = server.bodies.map(({ body }) => (body as { prompt_cache_key?: string }).prompt_cache_key);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false]);
});

it('a connection that breaks before the first byte of the answer is tried once more', async () => {
  let tries = 0;
  const model = await serve(
    (request, response) => {
      tries += 1;
      if (tries > 1) return streaming(chunk({ content: 'Hello' }, 'stop'))(request, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      setImmediate(() => response.destroy());
    },
    { maxRetries: 1 },
  );
  expect(await ask(model)).toMatchObject({ finish: 'stop', text: 'Hello' });
  expect(tries).toBe(2);
});

it.each([200, 403])('a login page in place of an answer, with status %i, is named', async (status) => {
  const model = await serve((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Sign in</title>');
  });
  await expect(ask(model)).rejects.toThrow('answers with a web page, such as a login');
});
