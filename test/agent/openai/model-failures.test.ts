import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { generate, ModelError } from '../../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  keptResults,
  latestRequest,
  says,
  scripted,
  sentResults,
  stored,
  waiting,
} from '../support.ts';
import { generateWith } from './support.ts';

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
