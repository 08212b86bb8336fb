import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  closeInterrupt,
  defineInterrupt,
  defineTool,
  generate,
  type JsonObject,
  type ToolHelpers,
} from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  doing,
  keptResults,
  says,
  scripted,
  sentCalls,
  sentResults,
  stored,
  transferCall,
  waiting,
} from './support.ts';

describe('a tool', () => {
  it('that returns undefined has the output null', async () => {
    const { model, server } = await scripted(calls(call('c1', 'nothing')), says('Done.'));
    const done = await generate({ model, tools: [doing('nothing', () => undefined)], prompt: 'Go' });
    expect(keptResults(done.messages)).toEqual({ c1: null });
    expect(sentResults(server)).toEqual([['c1', 'null']]);
  });

  it('may say with z.void() that it returns nothing', async () => {
    const { model } = await scripted(calls(call('c1', 'nothing')), says('Done.'));
    const nothing = defineTool(
      { name: 'nothing', description: 'Does it.', outputSchema: z.void() },
      () => {},
    );
    const done = await generate({ model, tools: [nothing], prompt: 'Go' });
    expect(keptResults(done.messages)).toEqual({ c1: null });
  });

  it('that is answered with undefined has the output null', async () => {
    const anything = defineInterrupt({ name: 'anything', description: 'Asks for anything.' });
    const { model, server } = await scripted(calls(call('c1', 'anything')), says('Done.'));
    const paused = await generate({ model, tools: [anything], prompt: 'Go' });
    const respond = [anything.respond(waiting(paused, 'c1'), undefined)];
    await generate({
      model,
      tools: [anything],
      messages: stored(paused.messages),
      resume: stored({ respond }),
    });
    expect(sentResults(server)).toEqual([['c1', 'null']]);
  });

  it('whose output schema changes values takes an answer that the schema has not changed yet', async () => {
    const count = defineInterrupt({
      name: 'count',
      description: 'Asks for words.',
      outputSchema: z.string().transform((words) => words.length),
    });
    const { model, server } = await scripted(calls(call('c1', 'count')), says('Done.'));
    const paused = await generate({ model, tools: [count], prompt: 'Go' });
    const respond = [count.respond(waiting(paused, 'c1'), 'four')];
    await generate({ model, tools: [count], messages: paused.messages, resume: stored({ respond }) });
    expect(sentResults(server)).toEqual([['c1', '4']]);
  });

  it.each([
    ['interrupt', ({ interrupt }: ToolHelpers) => interrupt()],
    ['deny', ({ deny }: ToolHelpers) => deny('No.')],
  ])('that goes on after %s() is a failed call, not a pause', async (_name, stop) => {
    const stubborn = doing('stubborn', (helpers) => {
      try {
        return stop(helpers);
      } catch {
        return 'done anyway';
      }
    });
    const { model, server } = await scripted(calls(call('c1', 'stubborn')), says('Done.'));
    const done = await generate({ model, tools: [stubborn], prompt: 'Go' });
    expect(done.finishReason).toBe('stop');
    expect(sentResults(server)).toEqual([['c1', expect.stringContaining('went on after it had paused')]]);
  });

  it.each([
    { effect: 'once', told: /"status":"ran".*The tool ran.*count/ },
    { effect: 'none', told: /"status":"error".*The tool ran.*count/ },
  ] as const)(
    'with the effect $effect whose output does not fit its schema says so',
    async ({ effect, told }) => {
      const wrong = defineTool(
        { name: 'wrong', description: 'Lies.', effect, outputSchema: z.object({ count: z.number() }) },
        () => JSON.parse('{"count":"many"}'),
      );
      const { model, server } = await scripted(calls(call('c1', 'wrong')), says('Done.'));
      await generate({ model, tools: [wrong], prompt: 'Go' });
      expect(sentResults(server)).toEqual([['c1', expect.stringMatching(told)]]);
    },
  );

  it('gets the same idempotency key at every try of a call, and another for another call', async () => {
    const keys: string[] = [];
    const charge = doing('charge', ({ idempotencyKey, resumed, interrupt }) => {
      keys.push(idempotencyKey);
      if (resumed === undefined) interrupt();
    });
    const { model } = await scripted(calls(call('c1', 'charge'), call('c2', 'charge')), says('Done.'));
    const paused = await generate({ model, tools: [charge], prompt: 'Go' });
    const restart = ['c1', 'c2'].map((ref) => charge.restart(waiting(paused, ref)));
    await generate({ model, tools: [charge], messages: stored(paused.messages), resume: { restart } });
    expect(keys.slice(2)).toEqual(keys.slice(0, 2));
    expect(new Set(keys).size).toBe(2);
  });

  it('is shown to people with the input that will run: defaults filled in, unknown keys gone', async () => {
    const { tools } = buildTools();
    const { model } = await scripted(calls(call('c1', 'transfer', { amount: 5, note: 'quick' })));
    const paused = await generate({ model, tools, prompt: 'Go' });
    expect(waiting(paused, 'c1').toolRequest.input).toEqual({ amount: 5, currency: 'EUR' });
  });

  it('gets the context, the metadata of its restart, and says how far it is', async () => {
    const seen: unknown[] = [];
    const work = doing('work', ({ context, resumed, interrupt, progress }) => {
      if (resumed === undefined) interrupt();
      progress('Half', 0.5);
      seen.push(context.team, resumed);
    });
    const { model } = await scripted(calls(call('c1', 'work')), says('Done.'));
    const context = { team: 'a' };
    const paused = await generate({ model, tools: [work], prompt: 'Go', context });
    await generate({
      model,
      tools: [work],
      messages: stored(paused.messages),
      context,
      resume: { restart: [work.restart(waiting(paused, 'c1'), { by: 'Ada' })] },
      onProgress: (progress) => seen.push(progress),
    });
    const progress = { name: 'work', ref: 'c1', message: 'Half', fraction: 0.5 };
    expect(seen).toEqual([progress, 'a', { by: 'Ada' }]);
  });
});

describe('the metadata of a tool that only asks', () => {
  const inputSchema = z.object({ amount: z.number(), currency: z.string().default('EUR') });
  const asking = (requestMetadata: Parameters<typeof defineInterrupt>[0]['requestMetadata']) =>
    defineInterrupt({
      name: 'ask',
      description: 'Asks.',
      inputSchema,
      ...(requestMetadata !== undefined && { requestMetadata }),
    });

  it.each([
    ['is the given object', { urgent: true }, { urgent: true }],
    ['is computed from the input', (input: unknown) => ({ about: input as JsonObject }), 'about'],
    ['may be a promise', async (input: unknown) => ({ about: input as JsonObject }), 'about'],
    ['is left out unless it is given', undefined, undefined],
  ])('%s', async (_title, requestMetadata, expected) => {
    const ask = asking(requestMetadata);
    const { model } = await scripted(calls(call('c1', 'ask', { amount: 5 })));
    const paused = await generate({ model, tools: [ask], prompt: 'Go' });
    const about = { about: { amount: 5, currency: 'EUR' } };
    expect(waiting(paused, 'c1').metadata).toEqual(expected === 'about' ? about : expected);
  });

  it('that cannot be computed makes the call fail, and its siblings wait on', async () => {
    const broken = new Error('no such rate');
    const failing = asking(() => {
      throw broken;
    });
    const { transfer } = buildTools();
    const { model } = await scripted(calls(call('c1', 'ask', { amount: 5 }), transferCall('c2', 5)));
    const failed: unknown[] = [];
    const paused = await generate({
      model,
      tools: [failing, transfer],
      prompt: 'Go',
      onToolError: ({ error }) => failed.push(error),
    });
    expect(failed).toEqual([broken]);
    expect(keptResults(paused.messages)).toEqual({ c1: { status: 'error', message: 'no such rate' } });
    expect(paused.interrupts.map(({ toolRequest }) => toolRequest.ref)).toEqual(['c2']);
  });

  it('is not waited for once the task is stopped', async () => {
    const controller = new AbortController();
    const slow = asking(() => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    });
    const { model } = await scripted(calls(call('c1', 'ask', { amount: 5 })));
    const { signal } = controller;
    const stopped = await generate({ model, tools: [slow], prompt: 'Go', signal });
    expect(stopped.finishReason).toBe('aborted');
    expect(keptResults(stopped.messages)).toMatchObject({
      c1: { message: expect.stringContaining('Not run') },
    });
  });
});

describe('what a caller hands in', () => {
  it('may be frozen to its depths, and is the same afterwards', async () => {
    const { tools, transfer } = buildTools();
    const { model } = await scripted(
      calls(transferCall('c1', 5), transferCall('c2', 6)),
      says('Done.'),
      says('Hm.'),
    );
    const paused = await generate({ model, tools: Object.freeze([...tools]), prompt: 'Go' });
    const messages = stored(paused.messages);
    const before = JSON.stringify(messages);
    const resume = stored({
      restart: [transfer.restart(waiting(paused, 'c1'), { by: { name: 'Ada' } })],
      close: [closeInterrupt(waiting(paused, 'c2'), 'expired', 'Nobody came.')],
    });
    const context = Object.freeze({ team: 'a' });
    const done = await generate({ model, tools, messages, resume, context });
    expect(JSON.stringify(messages)).toBe(before);
    const onward = Object.freeze(done.messages);
    await generate({ model, tools, messages: onward, prompt: 'And?' });
    expect(onward).toHaveLength(messages.length + 2);
  });

  it('is not changed by a tool that changes its input', async () => {
    const spend = defineTool(
      {
        name: 'spend',
        description: 'Spends.',
        inputSchema: { type: 'object', properties: { items: { type: 'array', items: {} } } },
      },
      (input: JsonObject, { resumed, interrupt }) => {
        Object.assign(input, { amount: 1_000_000 });
        (input.items as unknown[]).push('yacht');
        if (resumed === undefined) interrupt();
        return 'spent';
      },
    );
    const { model, server } = await scripted(calls(call('c1', 'spend', { items: ['pen'] })), says('Done.'));
    const paused = await generate({ model, tools: [spend], prompt: 'Go' });
    expect(waiting(paused, 'c1').toolRequest.input).toEqual({ items: ['pen'] });
    const resume = { restart: [spend.restart(waiting(paused, 'c1'))] };
    await generate({ model, tools: [spend], messages: stored(paused.messages), resume });
    expect(sentResults(server)).toEqual([['c1', 'spent']]);
    expect(sentCalls(server)).toEqual([{ id: 'c1', name: 'spend', input: { items: ['pen'] } }]);
  });

  it('is not changed by a tool that changes the metadata of its restart', async () => {
    const seen: unknown[] = [];
    const pay = doing('pay', ({ resumed, interrupt }) => {
      if (resumed === undefined) return interrupt();
      seen.push({ ...resumed });
      Object.assign(resumed, { by: 'Eve' });
      return null;
    });
    const { model } = await scripted(calls(call('c1', 'pay')), says('Done.'));
    const paused = await generate({ model, tools: [pay], prompt: 'Go' });
    const restart = [pay.restart(waiting(paused, 'c1'), { by: 'Ada' })];
    await generate({ model, tools: [pay], messages: paused.messages, resume: { restart } });
    expect(seen).toEqual([{ by: 'Ada' }]);
    expect(restart[0]?.metadata.resumed).toEqual({ by: 'Ada' });
  });

  it('keeps metadata as it was when the tool paused, as plain JSON', async () => {
    const details = { at: new Date(0), list: ['a'] };
    const pausing = doing('pause', ({ interrupt }) => interrupt(details as never));
    const { model } = await scripted(calls(call('c1', 'pause')));
    const paused = await generate({ model, tools: [pausing], prompt: 'Go' });
    details.list.push('b');
    expect(waiting(paused, 'c1').metadata).toEqual({ at: '1970-01-01T00:00:00.000Z', list: ['a'] });
  });
});
