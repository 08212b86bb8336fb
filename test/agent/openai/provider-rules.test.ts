import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Dialect } from '../../../playground/model/dialects.ts';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { userMessage } from '../../../src/agent/messages.ts';
import { generate, openAIModel } from '../../../src/index.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { buildTools, clientOf, says, waiting } from '../support.ts';
import { rounds, start, wholeThread } from './support.ts';

describe.each<[Dialect, string]>([
  ['gemini', 'thought_signature'],
  ['deepseek', 'reasoning_content'],
])('a server like %s', (dialect, field) => {
  it(`gets its ${field} back with every call, also after a pause`, async () => {
    const server = await start(rounds, { dialect });
    await wholeThread(clientOf(server));
    expect(server.refusals).toEqual([]);
    expect(JSON.stringify(server.bodies.at(-1)?.body)).toContain(field);
  });

  it('takes over the history of another model in the middle of a turn', async () => {
    const other = await start(rounds.slice(0, 2));
    const { tools, transfer } = buildTools();
    const paused = await generate({ model: clientOf(other), tools, prompt: 'Go' });
    const server = await start([says('Done.')], { dialect });
    const restart = [transfer.restart(waiting(paused, 'c3'))];
    const { messages } = paused;
    const done = await generate({ model: clientOf(server), tools, messages, resume: { restart } });
    expect(done).toMatchObject({ finishReason: 'stop', text: 'Done.' });
  });

  it(`leaves its ${field} behind when the model changes`, async () => {
    const server = await start(rounds.slice(0, 2), { dialect });
    const { tools, transfer } = buildTools();
    const paused = await generate({ model: clientOf(server), tools, prompt: 'Go' });
    expect(JSON.stringify(paused.messages)).toContain(field);
    const other = await start([says('Done.')]);
    const restart = [transfer.restart(waiting(paused, 'c3'))];
    const { messages } = paused;
    const done = await generate({ model: clientOf(other), tools, messages, resume: { restart } });
    expect(done.text).toBe('Done.');
    expect(JSON.stringify(other.bodies)).not.toContain(field);
  });
});

describe('a field that the model refuses', () => {
  const refusal = (param: string): ModelReply => ({
    status: 400,
    body: {
      error: {
        message: `Unsupported value: '${param}' does not support 0.8 with this model.`,
        type: 'invalid_request_error',
        param,
        code: 'unsupported_value',
      },
    },
  });

  it.each([
    ['responses', 'temperature', 'temperature'],
    ['responses', 'reasoning.effort', 'reasoningEffort'],
    ['responses', 'text.verbosity', 'verbosity'],
    ['chat', 'temperature', 'temperature'],
    ['chat', 'reasoning_effort', 'reasoningEffort'],
  ] as const)('of %s, %s, is left out from then on, and reported once', async (api, param, field) => {
    const server = await start([refusal(param), says('One.'), says('Two.')]);
    const refused: unknown[] = [];
    const config = { temperature: 0.8, reasoningEffort: 'low', verbosity: 'low' } as const;
    const model = clientOf(server, { api, config, onRefusedField: (one) => refused.push(one) });
    const { messages, text } = await generate({ model, prompt: 'Go' });
    await generate({ model, messages, prompt: 'Again' });
    expect(text).toBe('One.');
    expect(refused).toEqual([{ field, reason: expect.stringContaining(param) }]);
    const [first, ...later] = server.bodies.map(({ body }) => JSON.stringify(body));
    const name = param.split('.').at(-1) ?? '';
    expect(first).toContain(`"${name}"`);
    for (const body of nonEmpty(later)) expect(body).not.toContain(`"${name}"`);
  });

  it('that nobody asked for is an error that names it', async () => {
    const server = await start([refusal('temperature')]);
    const response = await generate({ model: clientOf(server), prompt: 'Go' });
    expect(response).toMatchObject({ error: { code: 'refused-request', field: 'temperature' } });
  });

  it('max_completion_tokens is sent by its older name', async () => {
    const server = await start([refusal('max_completion_tokens'), says('Hi.')]);
    await generate({ model: clientOf(server), config: { maxOutputTokens: 100 }, prompt: 'Go' });
    expect(server.bodies.at(-1)?.body).toMatchObject({ max_tokens: 100 });
  });
});

it('an answer that is gzipped is read', async () => {
  const chunk = { choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const model = openAIModel({ model: 'm', apiKey: 'test', baseURL: `http://127.0.0.1:${port}/v1` });
  expect(await generate({ model, prompt: 'Go' })).toMatchObject({ finishReason: 'stop', text: 'Hi.' });
});

describe('a model that takes no images', () => {
  it.each([
    ['chat', 'Invalid content type. image_url is only supported by certain models.', 400],
    ['responses', 'No endpoints found that support image input', 404],
  ] as const)('is sent what was said without them, and told so (%s)', async (api, message, status) => {
    const server = await start([says('No.'), says('Still no.')]);
    let refusals = 0;
    const refusing: typeof fetch = async (input, init) => {
      if (!String(init?.body).includes('data:image')) return fetch(input, init);
      refusals += 1;
      return Response.json({ error: { message, type: 'invalid_request_error' } }, { status });
    };
    const model = clientOf(server, { api, fetch: refusing });
    const media = [{ url: 'data:image/png;base64,AAAA' }];
    const first = await generate({ model, messages: [userMessage('See?', {}, { media })] });
    expect(first.text).toBe('No.');
    await generate({ model, messages: [userMessage('See?', {}, { media })] });
    expect(refusals).toBe(1);
    expect(JSON.stringify(server.bodies.at(-1)?.body)).toContain('See?\\n[You cannot see images]');
  });
});
