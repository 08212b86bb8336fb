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
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { describe, expect, it, onTestFinished } from 'vitest';
import { body, messages, start, stream, textOf } from './support.ts';

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
    await expect(client.files.list()).rejects.toThrow('404 Invalid URL (GET /v1/files)');
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
    await expect(client.chat.completions.create(body)).rejects.toThrow('no such scene');
    await expect(model.stop()).rejects.toThrow('no such scene');
  });

  it('fails at the end when replies are left over, and says what was refused', async () => {
    const { model, client } = await start({ script: [{ text: 'first' }, { text: 'never said' }] });
    await stream(client);
    await expect(client.chat.completions.create({ ...body, messages: [] })).rejects.toThrow(BadRequestError);
    await expect(model.stop()).rejects.toThrow(/still has: .*never said.*refused: Invalid 'messages'/s);
  });
});
