import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LocalModel } from '../../../playground/model/start-local-model.ts';
import { defineTool, generate, type ToolHelpers } from '../../../src/index.ts';
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
