import { json as readJson } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { generate, ModelError, openAIModel } from '../../../src/index.ts';
import { buildTools, rejection, says, scripted } from '../support.ts';
import { type Answer, ask, calling, chunk, event, serve, streaming } from './compatible-server.ts';

function sending(body: object, contentType = 'application/json'): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(JSON.stringify(body));
  };
}

describe('the text of an answer', () => {
  it('given as a list of parts is joined, without the thinking', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Hel' },
      { type: 'reasoning', text: 'Hm.' },
      { text: 'l' },
      'o',
    ];
    const model = await serve(streaming(chunk({ content: parts }), chunk({ content: '!' }, 'stop')));
    expect(await ask(model)).toMatchObject({ finish: 'stop', text: 'Hello!', deltas: ['Hello', '!'] });
  });
});

describe('an answer that is not streamed', () => {
  const message = {
    role: 'assistant',
    content: 'Let me look.',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"k":1}' } }],
  };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

  it.each([
    ['application/json', 'tool_calls'],
    ['application/json; charset=utf-8', 'tool_calls'],
    ['application/json', undefined],
  ])('is read as %s with the finish reason %s', async (type, finishReason) => {
    const body = { object: 'chat.completion', choices: [{ message, finish_reason: finishReason }], usage };
    expect(await ask(await serve(sending(body, type)))).toEqual({
      finish: 'stop',
      text: 'Let me look.',
      deltas: ['Let me look.'],
      calls: [{ id: 'a', name: 'look', arguments: '{"k":1}' }],
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    });
  });

  it('and is an error despite its status is reported with its message', async () => {
    const failed = await rejection(
      ask(await serve(sending({ error: { message: 'No such engine', code: 404 } }))),
    );
    expect(failed).toBeInstanceOf(ModelError);
    expect(failed).toMatchObject({ code: 'refused-request', status: 404 });
    expect((failed as ModelError).message).toContain('No such engine');
  });

  it('and breaks off is a cut answer', async () => {
    const model = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[');
    });
    expect(await ask(model)).toMatchObject({ finish: 'cut', text: '' });
  });
});

describe('a server that refuses stream_options', () => {
  it.each([
    ['by its name', { message: 'Unrecognized request argument supplied: stream_options', param: null }],
    ['by the parameter', { message: 'Extra inputs are not permitted', param: 'stream_options' }],
  ])('%s is asked again without it, and never with it again', async (_, error) => {
    const asked: boolean[] = [];
    const model = await serve(async (request, response) => {
      const hasOptions = JSON.stringify(await readJson(request)).includes('stream_options');
      asked.push(hasOptions);
      if (!hasOptions) return streaming(chunk({ content: 'Hello.' }, 'stop'))(request, response);
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    });
    expect(await ask(model)).toMatchObject({ text: 'Hello.' });
    expect(await ask(model)).toMatchObject({ text: 'Hello.' });
    expect(asked).toEqual([true, false, false]);
  });
});

describe('an error inside a stream', () => {
  const errors: [title: string, body: object, expected: object, words: string][] = [
    ['as OpenAI sends it', { error: { message: 'Overloaded' } }, { code: 'unavailable' }, 'Overloaded'],
    ['as a text', { error: 'Overloaded' }, { code: 'unavailable' }, 'Overloaded'],
    [
      'with a status as its code',
      { error: { message: 'Slow down', code: 429 } },
      { code: 'rate-limited', status: 429 },
      'Slow down',
    ],
    [
      'as vLLM sends it',
      { object: 'error', message: 'Too long', code: 400 },
      { code: 'refused-request', status: 400 },
      'Too long',
    ],
  ];
  it.each(errors)('%s is reported with its message, and what was said before it is kept', async (...args) => {
    const [, body, expected, words] = args;
    const look = calling({ index: 0, id: 'a', name: 'look', args: '{"key":"a"}' });
    const { ran, tools } = buildTools();
    const model = await serve(streaming(chunk({ content: 'Hel' }), look, event(body)));
    const response = await generate({ model, tools, prompt: 'Go' });
    const error = response.finishReason === 'model-error' ? response.error : undefined;
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject(expected);
    expect(error?.message).toContain(words);
    expect(response.text).toBe('Hel');
    expect(response.newMessages.at(-1)).toMatchObject({ role: 'model', content: [{ text: 'Hel' }] });
    expect(ran).toEqual([]);
  });

  it('that is all of it is thrown', async () => {
    const failed = await rejection(ask(await serve(streaming(event({ error: { message: 'Overloaded' } })))));
    expect(failed).toMatchObject({ name: 'ModelError', code: 'unavailable' });
  });
});

describe('a model that sends nothing', () => {
  /** Sends the same bytes again and again, then the end of the answer. */
  const repeating =
    (bytes: string, times: number): Answer =>
    async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let sent = 0; sent < times; sent += 1) {
        response.write(bytes);
        await sleep(60);
      }
      response.end(chunk({ content: 'Done.' }, 'stop'));
    };

  it('but comments is alive', async () => {
    const model = await serve(repeating(': OPENROUTER PROCESSING\n\n', 12), { silenceMs: 500 });
    expect(await ask(model)).toMatchObject({ finish: 'stop', text: 'Done.' });
  });

  it('after the end of its answer, and does not hang up, has answered', async () => {
    const model = await serve(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`${chunk({ content: 'Done.' }, 'stop')}data: [DONE]\n\n`);
      },
      { silenceMs: 500 },
    );
    expect(await ask(model)).toMatchObject({ finish: 'stop', text: 'Done.' });
  });

  it('to the end of a refusal is refused all the same', async () => {
    const model = await serve((_request, response) => response.writeHead(503).write('half'), {
      silenceMs: 500,
    });
    expect(await rejection(ask(model))).toMatchObject({ code: 'unavailable', status: 503 });
  });
});

describe('a fetch of the caller', () => {
  it('is the one that sends the request', async () => {
    const { server } = await scripted(says('Hi.'));
    const sent: string[] = [];
    const model = openAIModel({
      model: 'scripted',
      apiKey: 'test',
      baseURL: 'http://model.invalid/v1',
      fetch: (input, init) => {
        sent.push(String(input));
        return fetch(`${server.url}/chat/completions`, init);
      },
    });
    expect(await ask(model)).toMatchObject({ finish: 'stop', text: 'Hi.' });
    expect(sent).toEqual(['http://model.invalid/v1/chat/completions']);
  });
});
