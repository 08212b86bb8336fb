import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import type { LocalModel } from '../../../playground/model/start-local-model.ts';
import {
  defineTool,
  generate,
  ModelError,
  type OpenAIModelOptions,
  type ToolHelpers,
} from '../../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  clientOf,
  keptResults,
  latestRequest,
  says,
  scripted,
  sentResults,
  stored,
  waiting,
} from '../support.ts';

async function generateWith(options: Partial<OpenAIModelOptions>, ...script: ModelReply[]) {
  const { server } = await scripted(...script);
  const startedAt = Date.now();
  const response = await generate({ model: clientOf(server, options), prompt: 'Go' });
  const error = response.finishReason === 'model-error' ? response.error : undefined;
  return { server, response, error, startedAt };
}

const times = (count: number, reply: ModelReply) => Array.from({ length: count }, () => reply);

describe('a model that fails', () => {
  it.each([408, 409, 429, 500, 502, 503, 529])('with %d is asked again', async (status) => {
    const { response, server } = await generateWith({}, { status }, { status }, says('Hi.'));
    expect(response).toMatchObject({ finishReason: 'stop', text: 'Hi.' });
    expect(server.requests).toHaveLength(3);
  });

  it('by closing the connection is asked again', async () => {
    const { response, server } = await generateWith({}, { cut: 'headers' }, says('Hi.'));
    expect(response.text).toBe('Hi.');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [429, 'rate-limited'],
    [500, 'unavailable'],
  ])('with %d for longer than the limit of retries is reported as %s', async (status, code) => {
    const { error, server, response } = await generateWith({ maxRetries: 2 }, ...times(3, { status }));
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code, status });
    expect(error?.message).toContain('The model "scripted" gave no answer');
    expect(response.messages).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
  });

  it('is asked four times more, and no more, unless told otherwise', async () => {
    const { server } = await generateWith({}, ...times(5, { status: 503 }));
    expect(server.requests).toHaveLength(5);
  });

  it('is given ever more time', async () => {
    const { startedAt } = await generateWith({ firstRetryMs: 40 }, ...times(3, { status: 503 }), says('Hi.'));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(0.75 * (40 + 80 + 160) - 3);
  });

  it.each([
    ['401', { status: 401 }, 'unauthorized'],
    ['403', { status: 403 }, 'unauthorized'],
    ['400', { status: 400 }, 'refused-request'],
    ['x-should-retry: false', { status: 503, headers: { 'x-should-retry': 'false' } }, 'unavailable'],
    [
      'a spent quota',
      {
        status: 429,
        body: {
          error: { message: 'Spent.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
        },
      },
      'no-quota',
    ],
  ])('with %s is not asked again', async (_title, reply, code) => {
    const { error, server } = await generateWith({}, reply);
    expect(error).toMatchObject({ name: 'ModelError', code, status: reply.status });
    expect(server.requests).toHaveLength(1);
  });

  it('with an error that is no JSON is reported as well', async () => {
    const { error } = await generateWith({ maxRetries: 0 }, { status: 502, body: '<h1>Bad gateway</h1>' });
    expect(error).toMatchObject({ code: 'unavailable', status: 502 });
  });

  it('leaves no old answer standing as its own', async () => {
    const { model } = await scripted(says('First answer.'), { status: 400 });
    const first = await generate({ model, prompt: 'One' });
    const second = await generate({ model, messages: first.messages, prompt: 'Two' });
    expect(second).toMatchObject({ finishReason: 'model-error', text: '' });
  });
});

describe('retry-after', () => {
  it.each([
    ['in seconds', { 'retry-after': '1' }, 1000],
    ['in milliseconds', { 'retry-after-ms': '250' }, 250],
    ['in milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '90' }, 250],
  ])('%s is waited for', async (_title, headers, wait) => {
    const { startedAt, response } = await generateWith(
      { longestRetryMs: 5000 },
      { status: 429, headers },
      says('Hi.'),
    );
    expect(response.text).toBe('Hi.');
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(wait - 3);
  });

  it('as a date is waited for', async () => {
    const until = Math.ceil(Date.now() / 1000 + 1) * 1000;
    const headers = { 'retry-after': new Date(until).toUTCString() };
    const { response } = await generateWith({}, { status: 503, headers }, says('Hi.'));
    expect(response.text).toBe('Hi.');
    expect(Date.now()).toBeGreaterThanOrEqual(until - 3);
  });

  it('in the past, or unreadable, does not stop the retry', async () => {
    const past = { status: 503, headers: { 'retry-after': new Date(0).toUTCString() } };
    const odd = { status: 503, headers: { 'retry-after': 'soon' } };
    const { response } = await generateWith({}, past, odd, says('Hi.'));
    expect(response.text).toBe('Hi.');
  });

  it('that is too long is not waited for, and reported', async () => {
    const { error, server } = await generateWith({}, { status: 429, headers: { 'retry-after': '3600' } });
    expect(error).toMatchObject({ code: 'rate-limited', status: 429, retryAfterMs: 3_600_000 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('an answer that is no full answer has a finishReason of its own', () => {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const look = call('c1', 'look', { key: 'a' });
  const cases: [title: string, reply: ModelReply, finishReason: string, text: string][] = [
    ['cut before the first word', { text: 'Hello', cut: 0 }, 'cut-stream', ''],
    ['cut after some words', { text: ['Hel', 'lo'], cut: 2 }, 'cut-stream', 'Hel'],
    ['cut within a call', { text: ['Let me'], calls: [look], cut: 4 }, 'cut-stream', 'Let me'],
    ['cut after a whole call', { calls: [look], cut: 4 }, 'cut-stream', ''],
    ['ended without saying why', { chunksRaw: [chunk({ content: 'Hel' })] }, 'cut-stream', 'Hel'],
    ['with no choice', { empty: true }, 'empty-choice', ''],
    ['with nothing in its choice', { text: '' }, 'empty-choice', ''],
    ['with nothing at all', { chunksRaw: ['data: [DONE]\n\n'] }, 'empty-choice', ''],
    ['stopped by the content filter', { text: 'I', finishReason: 'content_filter' }, 'content-filter', 'I'],
    ['stopped by the length limit', { text: 'Once', finishReason: 'length' }, 'length', 'Once'],
    ['refused by the model', { refusal: 'I cannot.' }, 'refusal', 'I cannot.'],
    [
      'with a chunk that is no JSON',
      { chunksRaw: [chunk({ content: 'Hel' }), 'data: {"id\n\n'] },
      'cut-stream',
      'Hel',
    ],
    [
      'with a chunk that is null',
      { chunksRaw: [chunk({ content: 'Hel' }), 'data: null\n\n'] },
      'cut-stream',
      'Hel',
    ],
  ];
  it.each(cases)('%s', async (_title, reply, finishReason, text) => {
    const { ran, tools } = buildTools();
    const { model, server } = await scripted(reply, says('Hello again.'));
    const deltas: string[] = [];
    const response = await generate({ model, tools, prompt: 'Go', onText: (delta) => deltas.push(delta) });
    expect(response).toMatchObject({ finishReason, text, interrupts: [] });
    expect(deltas.join('')).toBe(text);
    expect(ran).toEqual([]);
    await generate({ model, tools, messages: stored(response.messages), prompt: 'Again' });
    expect(latestRequest(server).messages).toHaveLength(text === '' ? 2 : 3);
  });
});

describe('a model that fails after an approved tool ran', () => {
  it('costs nothing: the result is in the messages, and going on works', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model, server } = await scripted(
      calls(call('c1', 'transfer', { amount: 5 })),
      { status: 400 },
      says('Done.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    const resume = { restart: [transfer.restart(waiting(paused, 'c1'))] };
    const failed = await generate({ model, tools, messages: stored(paused.messages), resume });
    expect(failed.finishReason).toBe('model-error');
    expect(keptResults(failed.messages)).toEqual({ c1: { moved: 5 } });
    const done = await generate({ model, tools, messages: stored(failed.messages) });
    expect(done).toMatchObject({ finishReason: 'stop', text: 'Done.' });
    expect(sentResults(server)).toEqual([['c1', '{"moved":5}']]);
    expect(ran).toEqual(['transfer 5']);
  });
});

describe('an abort', () => {
  const reached = (server: LocalModel) => expect.poll(() => server.requests).not.toHaveLength(0);

  it('before the start calls nobody', async () => {
    const { model, server } = await scripted();
    const response = await generate({ model, prompt: 'Go', signal: AbortSignal.abort() });
    expect(response).toMatchObject({ finishReason: 'aborted', text: '' });
    expect(server.requests).toHaveLength(0);
  });

  it('before the first word ends the wait', async () => {
    const { model, server } = await scripted({ hang: true });
    const controller = new AbortController();
    const response = generate({ model, prompt: 'Go', signal: controller.signal });
    await reached(server);
    controller.abort();
    expect(await response).toMatchObject({ finishReason: 'aborted', text: '' });
  });

  it('in the middle of an answer keeps what was said, hangs up, and leaves a valid history', async () => {
    const { model, server } = await scripted({ text: ['Once', ' upon'], hang: 2 }, says('Again.'));
    const controller = new AbortController();
    const stop = () => controller.abort();
    const stopped = await generate({ model, prompt: 'Go', signal: controller.signal, onText: stop });
    expect(stopped).toMatchObject({ finishReason: 'aborted', text: 'Once' });
    await expect.poll(() => server.abandoned).toHaveLength(1);
    await generate({ model, messages: stored(stopped.messages), prompt: 'Again' });
    expect(latestRequest(server).messages).toHaveLength(3);
  });

  it('between two retries ends the wait', async () => {
    const { model, server } = await scripted({ status: 429, headers: { 'retry-after': '50' } });
    const controller = new AbortController();
    const response = generate({ model, prompt: 'Go', signal: controller.signal });
    await reached(server);
    await sleep(50);
    controller.abort();
    expect((await response).finishReason).toBe('aborted');
    expect(server.requests).toHaveLength(1);
  });

  const forever = () => new Promise<never>(() => undefined);
  const tools: [title: string, run: (helpers: ToolHelpers) => Promise<unknown>][] = [
    ['that obeys the signal', ({ signal }) => sleep(60_000, undefined, { signal })],
    ['that takes no notice', forever],
  ];
  it.each(tools)('in the middle of a tool %s returns at once', async (_title, run) => {
    const controller = new AbortController();
    const work = defineTool({ name: 'work', description: 'Works.' }, (_input, helpers) => {
      setImmediate(() => controller.abort());
      return run(helpers);
    });
    const { ask } = buildTools();
    const { model, server } = await scripted(
      calls(call('c1', 'work'), call('c2', 'work')),
      says('Understood.'),
    );
    const stopped = await generate({ model, tools: [work, ask], prompt: 'Go', signal: controller.signal });
    expect(stopped.finishReason).toBe('aborted');
    await generate({ model, messages: stored(stopped.messages), prompt: 'What happened?' });
    const told = expect.stringContaining('may or may not have taken effect');
    expect(sentResults(server)).toEqual([
      ['c1', told],
      ['c2', told],
    ]);
  });

  it('can be awaited by many calls and many steps, and no listener stays on the signal', async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => warnings.push(name);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const { signal } = new AbortController();
    const { ran, tools } = buildTools();
    const round = (step: number) =>
      calls(...Array.from({ length: 12 }, (_, index) => call(`c${step}-${index}`, 'look', { key: 'a' })));
    const { model } = await scripted(...Array.from({ length: 12 }, (_, step) => round(step)), says('Done.'));
    await generate({ model, tools, prompt: 'Go', signal });
    expect(ran).toHaveLength(144);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await sleep(0);
    expect(warnings).toEqual([]);
  });

  it('by the tool itself, which then takes no notice, returns at once too', async () => {
    const controller = new AbortController();
    const work = defineTool({ name: 'work', description: 'Works.' }, () => {
      controller.abort();
      return forever();
    });
    const { model } = await scripted(calls(call('c1', 'work')));
    const stopped = await generate({ model, tools: [work], prompt: 'Go', signal: controller.signal });
    expect(stopped.finishReason).toBe('aborted');
  });

  it('in the middle of a restarted tool keeps the results of its siblings', async () => {
    const controller = new AbortController();
    const { ran, transfer } = buildTools();
    const work = defineTool({ name: 'work', description: 'Works.' }, (_input, { resumed, interrupt }) => {
      if (resumed === undefined) interrupt();
      setImmediate(() => controller.abort());
      return forever();
    });
    const toolsGiven = [transfer, work] as const;
    const { model } = await scripted(calls(call('c1', 'work'), call('c2', 'transfer', { amount: 5 })));
    const paused = await generate({ model, tools: toolsGiven, prompt: 'Go' });
    const restart = [work.restart(waiting(paused, 'c1')), transfer.restart(waiting(paused, 'c2'))];
    const { signal } = controller;
    const stopped = await generate({
      model,
      tools: toolsGiven,
      messages: paused.messages,
      resume: { restart },
      signal,
    });
    expect(stopped.finishReason).toBe('aborted');
    expect(ran).toEqual(['transfer 5']);
    expect(keptResults(stopped.messages)).toMatchObject({ c1: { status: 'error' }, c2: { moved: 5 } });
  });
});

describe('a silent model', () => {
  it('that never answers is timed out, each retry too', async () => {
    const options = { silenceMs: 1000, maxRetries: 1 };
    const { error, server } = await generateWith(options, { hang: true }, { hang: true });
    expect(error).toMatchObject({ code: 'timed-out' });
    expect(server.requests).toHaveLength(2);
  });

  it('that falls silent in the middle is a cut stream: what was said is kept, and the connection is closed', async () => {
    // Long enough for the first word to arrive on a busy machine.
    const { response, server } = await generateWith(
      { silenceMs: 2_000 },
      { text: ['Once', ' upon'], hang: 2 },
    );
    expect(response).toMatchObject({ finishReason: 'cut-stream', text: 'Once' });
    await vi.waitFor(() => expect(server.abandoned).toHaveLength(1));
  });

  it('that is slow but not silent is heard to the end', async () => {
    const words = Array.from({ length: 25 }, (_, index) => `${index} `);
    const { response } = await generateWith({ silenceMs: 1_000 }, { text: words, delayMs: 60 });
    expect(response).toMatchObject({ finishReason: 'stop', text: words.join('') });
  });
});

it('what goes wrong with whoever listens reaches the caller, and is no cut stream', async () => {
  const { model } = await scripted(says('Hello.'));
  const onText = () => {
    throw new Error('the listener broke');
  };
  await expect(generate({ model, prompt: 'Hi', onText })).rejects.toThrow('the listener broke');
});
