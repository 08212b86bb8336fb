import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  generate,
  type Model,
  ModelError,
  type OpenAIModelOptions,
  openAIModel,
} from '../../../src/index.ts';
import { buildTools, rejection, says, scripted } from '../support.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers every request in the same way, and the real client for it. */
async function serve(answer: Answer, options: Partial<OpenAIModelOptions> = {}): Promise<Model> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  return openAIModel({ model: 'other', apiKey: 'test', baseURL, maxRetries: 0, firstRetryMs: 1, ...options });
}

/** Asks a model without any loop around it. */
async function ask(model: Model, signal?: AbortSignal) {
  const deltas: string[] = [];
  const reply = await model.reply({
    system: undefined,
    history: [{ role: 'user', text: 'Go' }],
    tools: [],
    signal,
    onText: (delta) => deltas.push(delta),
  });
  return { ...reply, deltas };
}

const event = (body: object) => `data: ${JSON.stringify(body)}\n\n`;
const chunk = (delta: object, finishReason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason: finishReason }] });

function streaming(...events: string[]): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([...events, 'data: [DONE]\n\n'].join(''));
  };
}

function sending(body: object, contentType = 'application/json'): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(JSON.stringify(body));
  };
}

interface Piece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly name?: string;
  readonly args?: string | object;
}

const calling = (...pieces: Piece[]) =>
  chunk({
    tool_calls: pieces.map(({ index, id, name, args }) => ({
      index,
      id,
      function: { name, arguments: args },
    })),
  });

describe('the calls of an answer', () => {
  const cases: [title: string, events: string[], calls: [id: string, name: string, args: string][]][] = [
    [
      'are put together from pieces that come in turns',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }, { index: 1, id: 'b', name: 'ask', args: '' }),
        calling({ index: 1, args: '{"q":' }, { index: 0, args: '{"k":' }),
        calling({ index: 0, args: '1}' }, { index: 1, args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'ask', '{"q":2}'],
      ],
    ],
    [
      'are separate if all have the index 0 and each has its own id',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":1}' }),
        calling({ index: 0, id: 'b', name: 'look', args: '{"k":2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'are separate with the index 0 for all also if each comes in pieces',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }),
        calling({ index: 0, args: '{"k":' }),
        calling({ index: 0, args: '1}' }),
        calling({ index: 0, id: 'b', name: 'look', args: '' }),
        calling({ index: 0, args: '{"k":' }),
        calling({ index: 0, args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'are told apart by their ids if pieces with the index 0 come in turns',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'b', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'a', args: '1}' }),
        calling({ index: 0, id: 'b', args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'belong together if they repeat an id and have no index',
      [
        calling({ id: 'a', name: 'look', args: '{"k":' }),
        calling({ id: 'a', name: 'look', args: '1}' }),
        calling({ id: 'b', name: 'ask', args: '{}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'ask', '{}'],
      ],
    ],
    [
      'continue the latest one if a piece has neither index nor id',
      [
        calling({ index: null, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: null, id: null, args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'are separate if they come whole, with neither index nor id',
      [
        calling({ name: 'look', args: '{"k":1}' }, { name: 'look', args: '{"k":2}' }),
        calling({ name: 'ask', args: '{}' }),
      ],
      [
        ['', 'look', '{"k":1}'],
        ['', 'look', '{"k":2}'],
        ['', 'ask', '{}'],
      ],
    ],
    [
      'keep their first id if each later piece has another one and no name',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }),
        calling({ index: 0, id: 'x1', args: '{"k":' }),
        calling({ index: 0, id: 'x2', args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'may repeat id and name in every piece',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'a', name: 'look', args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'may have arguments that are an object',
      [calling({ index: 0, id: 'a', name: 'look', args: { k: 1 } })],
      [['a', 'look', '{"k":1}']],
    ],
  ];
  it.each(cases)('%s', async (_title, events, calls) => {
    const { finish, calls: found } = await ask(await serve(streaming(...events, chunk({}, 'tool_calls'))));
    expect(finish).toBe('stop');
    expect(found).toEqual(calls.map(([id, name, args]) => ({ id, name, arguments: args })));
  });
});

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
