import { setImmediate as nextTurn } from 'node:timers/promises';
import OpenAI, {
  APIConnectionError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import type { ChatCompletionChunk, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type LocalModel,
  type LocalModelOptions,
  startLocalModel,
} from '../../../playground/model/start-local-model.ts';

const running: LocalModel[] = [];
afterEach(async () => {
  for (const model of running.splice(0)) await model.stop();
});

async function start(options: LocalModelOptions = {}, maxRetries = 0) {
  const model = await startLocalModel(options);
  running.push(model);
  return { model, client: new OpenAI({ apiKey: 'local', baseURL: model.url, maxRetries }) };
}

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Refund order 7.' }];
const body = { model: 'scripted', messages };

async function stream(client: OpenAI, options: { include_usage?: boolean } = {}, signal?: AbortSignal) {
  const chunks: ChatCompletionChunk[] = [];
  const request = { ...body, stream: true as const, stream_options: options };
  for await (const chunk of await client.chat.completions.create(request, { signal })) chunks.push(chunk);
  return chunks;
}

const deltasOf = (chunks: ChatCompletionChunk[]) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
const textOf = (chunks: ChatCompletionChunk[]) =>
  deltasOf(chunks)
    .map(({ content }) => content ?? '')
    .join('');

describe('a streamed answer', () => {
  it('brings text in several deltas and says once why it ended', async () => {
    const { client } = await start({ script: [{ text: 'All done: 👍🏽 refunded.' }] });
    const chunks = await stream(client);
    expect(textOf(chunks)).toBe('All done: 👍🏽 refunded.');
    expect(deltasOf(chunks)[0]).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(deltasOf(chunks).filter(({ content }) => (content ?? '') !== '').length).toBeGreaterThan(1);
    expect(
      chunks.map(({ choices }) => choices[0]?.finish_reason).filter((reason) => reason !== null),
    ).toEqual(['stop']);
  });

  it('splits even a short word', async () => {
    const { client } = await start({ script: [{ text: 'Yes.' }] });
    const contents = deltasOf(await stream(client)).map(({ content }) => content);
    expect(contents).toEqual(['', 'Ye', 's.', undefined]);
  });

  it('brings text in the deltas that the script gives', async () => {
    const { client } = await start({ script: [{ text: ['one', ' two'], delayMs: 1 }] });
    const contents = deltasOf(await stream(client)).map(({ content }) => content);
    expect(contents).toEqual(['', 'one', ' two', undefined]);
  });

  it('names each call once, in the first delta of its index, and splits its arguments', async () => {
    const calls = [
      { name: 'refund', arguments: { order: 7, amount: 1200 } },
      { id: 'call_mine', name: 'notify', arguments: '{"broken":' },
    ];
    const { client } = await start({ script: [{ text: 'Working.', calls }] });
    const chunks = await stream(client);
    const pieces = deltasOf(chunks).flatMap(({ tool_calls }) => tool_calls ?? []);
    for (const [index, id, name, text] of [
      [0, 'call_1', 'refund', '{"order":7,"amount":1200}'],
      [1, 'call_mine', 'notify', '{"broken":'],
    ] as const) {
      const [first, ...rest] = pieces.filter((piece) => piece.index === index);
      expect(first).toEqual({ index, id, type: 'function', function: { name, arguments: '' } });
      expect(rest.length).toBeGreaterThan(1);
      for (const piece of rest) {
        expect(piece).toEqual({ index, function: { arguments: expect.any(String) } });
      }
      expect(rest.map((piece) => piece.function?.arguments).join('')).toBe(text);
    }
    expect(textOf(chunks)).toBe('Working.');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('is put together by the client into the message that was scripted', async () => {
    const { client } = await start({ script: [{ calls: [{ name: 'refund', arguments: { order: 7 } }] }] });
    const streaming = client.chat.completions.stream(body);
    const contents: unknown[] = [];
    streaming.on('chunk', ({ choices }) => contents.push(choices[0]?.delta.content));
    const completion = await streaming.finalChatCompletion();
    expect(contents[0]).toBeNull();
    expect(completion.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'refund', arguments: '{"order":7}' } },
      ],
    });
  });

  it('reports usage in a last chunk without choices, and only when asked', async () => {
    const usage = { promptTokens: 30, completionTokens: 4 };
    const { client } = await start({
      script: [
        { text: 'Yes.', usage },
        { text: 'Yes.', usage },
      ],
    });
    const asked = await stream(client, { include_usage: true });
    expect(asked.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 },
    });
    expect(asked.slice(0, -1).map((chunk) => chunk.usage)).toEqual(asked.slice(0, -1).map(() => null));
    expect((await stream(client)).some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('ends with [DONE]', async () => {
    const { model } = await start({ script: [{ text: 'Yes.' }] });
    const response = await fetch(`${model.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer local' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  });

  it('can be cut off by the length limit in the middle of a call', async () => {
    const calls = [{ name: 'refund', arguments: '{"order":' }];
    const { client } = await start({ script: [{ calls, finishReason: 'length' }] });
    expect((await stream(client)).at(-1)?.choices[0]?.finish_reason).toBe('length');
  });

  it('can be a refusal by the model', async () => {
    const { client } = await start({ script: [{ refusal: 'I cannot help with that.' }] });
    const refusals = deltasOf(await stream(client)).map(({ refusal }) => refusal ?? '');
    expect(refusals.join('')).toBe('I cannot help with that.');
  });

  it('can have no choice in it', async () => {
    const { client } = await start({ script: [{ empty: true }] });
    expect((await stream(client)).map(({ choices }) => choices)).toEqual([[]]);
  });

  it('can be no protocol at all', async () => {
    const { client } = await start({ script: [{ chunksRaw: ['data: {"choices":\n\n'] }] });
    await expect(stream(client)).rejects.toThrow(SyntaxError);
  });
});

describe('a whole answer', () => {
  it('holds text, the reason it ended and usage', async () => {
    const { client } = await start({ script: [{ text: 'Partly', finishReason: 'content_filter' }] });
    const completion = await client.chat.completions.create(body);
    expect(completion).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      choices: [
        { message: { role: 'assistant', content: 'Partly', refusal: null }, finish_reason: 'content_filter' },
      ],
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    expect(completion.choices[0]?.message).not.toHaveProperty('tool_calls');
  });

  it('holds calls, which can be sent back with their results', async () => {
    const { model, client } = await start({
      script: [{ calls: [{ name: 'refund', arguments: {} }] }, { text: 'Done.' }],
    });
    const message = (await client.chat.completions.create(body)).choices[0]?.message;
    if (message === undefined) throw new Error('no message');
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'ok' };
    const history = [...messages, message, result];
    const last = await client.chat.completions.create({ ...body, messages: history });
    expect(last.choices[0]?.message.content).toBe('Done.');
    expect(model.requests.map((request) => request.messages)).toEqual([messages, history]);
  });

  it('numbers its calls past those of an older history', async () => {
    const { client } = await start({ script: [{ calls: [{ name: 'refund', arguments: {} }] }] });
    const old = {
      role: 'assistant' as const,
      tool_calls: [
        { id: 'call_1', type: 'function' as const, function: { name: 'refund', arguments: '{}' } },
      ],
    };
    const history = [...messages, old, { role: 'tool' as const, tool_call_id: 'call_1', content: 'ok' }];
    const completion = await client.chat.completions.create({ ...body, messages: history });
    expect(completion.choices[0]?.message.tool_calls?.[0]?.id).toBe('call_2');
  });

  it('can be a refusal, or without a choice', async () => {
    const { client } = await start({ script: [{ refusal: 'No.' }, { empty: true }] });
    const refused = await client.chat.completions.create(body);
    expect(refused.choices[0]?.message).toMatchObject({ content: null, refusal: 'No.' });
    expect((await client.chat.completions.create(body)).choices).toEqual([]);
  });
});

describe('a failure', () => {
  it.each([
    [429, RateLimitError, 'rate_limit_exceeded'],
    [500, InternalServerError, null],
    [503, InternalServerError, null],
  ] as const)('with status %i has the shape of an OpenAI error', async (status, kind, code) => {
    const { client } = await start({ script: [{ status, headers: { 'retry-after': '7' } }] });
    const error = await client.chat.completions.create(body).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({
      status,
      code,
      param: null,
      message: expect.stringContaining(`${status} `),
    });
    if (error instanceof kind) expect(error.headers.get('retry-after')).toBe('7');
  });

  it('takes its body from the script, JSON or not', async () => {
    const { client } = await start({
      script: [
        { status: 429, body: { error: { message: 'No money left.', code: 'insufficient_quota' } } },
        { status: 502, body: '<h1>Bad Gateway</h1>' },
      ],
    });
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({ code: 'insufficient_quota' });
    await expect(client.chat.completions.create(body)).rejects.toThrow('502 <h1>Bad Gateway</h1>');
  });

  it('is followed by the next reply when the client tries again', async () => {
    const overloaded = { status: 503, headers: { 'retry-after-ms': '1' } };
    const { model, client } = await start({ script: [overloaded, { text: 'Now.' }] }, 1);
    expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe('Now.');
    expect(model.requests).toHaveLength(2);
  });

  it('can be a socket destroyed where the headers were due', async () => {
    const { model, client } = await start({ script: [{ cut: 'headers' }, { text: 'x', cut: 'headers' }] });
    await expect(client.chat.completions.create(body)).rejects.toThrow(APIConnectionError);
    await expect(stream(client)).rejects.toThrow(APIConnectionError);
    expect(model.abandoned).toEqual([]);
  });

  it.each([0, 1, 3])('can be a stream cut after %i chunks', async (cut) => {
    const { client } = await start({ script: [{ text: ['a', 'b', 'c', 'd'], cut }] });
    const seen: ChatCompletionChunk[] = [];
    const reading = async () => {
      for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
        seen.push(chunk);
    };
    await expect(reading()).rejects.toThrow('terminated');
    expect(seen).toHaveLength(cut);
  });

  it('can be a whole answer cut in the middle of its body', async () => {
    const { client } = await start({ script: [{ text: 'Never whole.', cut: 1 }] });
    await expect(client.chat.completions.create(body)).rejects.toThrow('terminated');
  });
});

describe('silence', () => {
  it('before an answer lasts until the client gives up, which the server notices', async () => {
    const { model, client } = await start({ script: [{ hang: true }] });
    const giveUp = new AbortController();
    const answer = client.chat.completions.create(body, { signal: giveUp.signal });
    await expect.poll(() => model.requests).toHaveLength(1);
    giveUp.abort();
    await expect(answer).rejects.toThrow(APIUserAbortError);
    await expect.poll(() => model.abandoned).toEqual(model.requests);
  });

  it('can fall in the middle of a stream', async () => {
    const { model, client } = await start({ script: [{ text: ['a', 'b'], hang: 2 }] });
    const answer = await client.chat.completions.create({ ...body, stream: true });
    const seen: ChatCompletionChunk[] = [];
    for await (const chunk of answer) {
      seen.push(chunk);
      if (seen.length === 2) answer.controller.abort();
    }
    expect(textOf(seen)).toBe('a');
    await expect.poll(() => model.abandoned).toHaveLength(1);
  });

  it('does not keep the server from stopping', async () => {
    const { model, client } = await start({ script: [{ hang: true }] });
    const answer = client.chat.completions.create(body).catch((reason: unknown) => reason);
    await expect.poll(() => model.requests).toHaveLength(1);
    await model.stop();
    expect(await answer).toBeInstanceOf(APIConnectionError);
    await nextTurn();
    expect(model.abandoned).toEqual([]);
  });
});

describe('a refused request', () => {
  it('is answered in the shape of an OpenAI error and takes no reply from the script', async () => {
    const { model, client } = await start({ script: [{ text: 'Yes.' }] });
    const orphan = { role: 'tool' as const, tool_call_id: 'call_9', content: 'ok' };
    const error = await client.chat.completions
      .create({ ...body, messages: [...messages, orphan] })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ type: 'invalid_request_error', param: 'messages.[1].role', code: null });
    expect(model.requests).toEqual([]);
    expect(model.refusals).toMatchObject([{ problem: { status: 400, param: 'messages.[1].role' } }]);
    expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe('Yes.');
  });

  it('for an unknown model is not found', async () => {
    const { client } = await start();
    const create = client.chat.completions.create({ ...body, model: 'gpt-9' });
    await expect(create).rejects.toThrow(NotFoundError);
  });

  it('on an unknown path is not found', async () => {
    const { client } = await start();
    await expect(client.models.list()).rejects.toThrow('404 Invalid URL (GET /v1/models)');
  });

  it('with another method is not allowed', async () => {
    const { model } = await start();
    const response = await fetch(`${model.url}/chat/completions`, {
      headers: { authorization: 'Bearer local' },
    });
    expect(response.status).toBe(405);
  });

  it('without a key is unauthorized', async () => {
    const { model } = await start();
    const client = new OpenAI({
      apiKey: 'local',
      baseURL: model.url,
      maxRetries: 0,
      defaultHeaders: { authorization: null },
    });
    await expect(client.chat.completions.create(body)).rejects.toThrow(AuthenticationError);
  });

  it('that is not JSON is bad', async () => {
    const { model } = await start();
    const response = await fetch(`${model.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer local' },
      body: '{',
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.objectContaining({ type: 'invalid_request_error', param: null, code: null }) },
    ]);
  });
});

describe('the script', () => {
  it('may be a function of the request and its index', async () => {
    const { client } = await start({
      script: (request, index) => ({ text: `${index}: ${request.messages.length}` }),
    });
    expect(textOf(await stream(client))).toBe('0: 1');
    expect(textOf(await stream(client))).toBe('1: 1');
  });

  it('is asked only when nothing queued is left', async () => {
    const { model, client } = await start({ script: () => ({ text: 'script' }) });
    model.enqueue({ text: 'queued' });
    expect(textOf(await stream(client))).toBe('queued');
    expect(textOf(await stream(client))).toBe('script');
  });

  it('fails a call that it did not expect, once, and again when the server stops', async () => {
    const { model, client } = await start({}, 2);
    running.length = 0;
    onTestFinished(() => model.stop().catch(() => undefined));
    const error = await client.chat.completions.create(body).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 500, code: 'unexpected_call' });
    expect(model.requests).toHaveLength(1);
    expect(() => model.assertDone()).toThrow('Refund order 7.');
    await expect(model.stop()).rejects.toThrow('The script has no reply for this call');
    await expect(model.stop()).resolves.toBeUndefined();
  });

  it('fails a call for which its function throws', async () => {
    const { model, client } = await start({
      script: () => {
        throw new Error('no such scene');
      },
    });
    running.length = 0;
    await expect(client.chat.completions.create(body)).rejects.toThrow('no such scene');
    await expect(model.stop()).rejects.toThrow('no such scene');
  });

  it('fails at the end when replies are left over, and says what was refused', async () => {
    const { model, client } = await start({ script: [{ text: 'first' }, { text: 'never said' }] });
    running.length = 0;
    await stream(client);
    await expect(client.chat.completions.create({ ...body, messages: [] })).rejects.toThrow(BadRequestError);
    await expect(model.stop()).rejects.toThrow(/still has: .*never said.*refused: Invalid 'messages'/s);
  });
});
