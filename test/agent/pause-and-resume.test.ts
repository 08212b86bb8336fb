import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeInterrupt, DefinitionError, defineTool, generate, settle } from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  doing,
  keptResults,
  latestRequest,
  rejection,
  says,
  scripted,
  sentResults,
  stored,
  transferCall,
  waiting,
} from './support.ts';

describe('the results of siblings', () => {
  it.each([0, '', false, null])('keep %j through a pause', async (output) => {
    const { transfer } = buildTools();
    const tools = [transfer, doing('give', () => output)] as const;
    const { model, server } = await scripted(calls(call('c1', 'give'), transferCall('c2', 5)), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    expect(keptResults(paused.messages)).toEqual({ c1: output });
    await generate({
      model,
      tools,
      messages: stored(paused.messages),
      resume: { restart: [transfer.restart(waiting(paused, 'c2'))] },
    });
    expect(sentResults(server)).toEqual([
      ['c1', output === '' ? '' : JSON.stringify(output)],
      ['c2', '{"moved":5}'],
    ]);
  });

  const failures: [title: string, thrown: unknown, told: unknown][] = [
    ['an error', new Error('disk full'), 'disk full'],
    ['an error without words', new RangeError(), 'RangeError'],
    ['a text', 'disk full', 'disk full'],
    ['an object that has no text', Object.create(null), expect.any(String)],
    ['nothing', undefined, 'undefined'],
  ];
  it.each(failures)('are not lost when one of them throws %s', async (_title, thrown, message) => {
    const { transfer, look } = buildTools();
    const failing = doing('fail', () => {
      throw thrown;
    });
    const tools = [transfer, look, failing] as const;
    const { model, server } = await scripted(
      calls(call('c1', 'fail'), transferCall('c2', 5), call('c3', 'look', { key: 'a' })),
      says('Done.'),
    );
    const failed: unknown[] = [];
    const onToolError = ({ error }: { error: unknown }) => failed.push(error);
    const paused = await generate({ model, tools, prompt: 'Go', onToolError });
    expect(failed).toEqual([thrown]);
    const error = { status: 'error', message };
    expect(keptResults(paused.messages)).toEqual({ c1: error, c3: 'value of a' });
    const resume = { restart: [transfer.restart(waiting(paused, 'c2'))] };
    await generate({ model, tools, messages: stored(paused.messages), resume });
    expect(sentResults(server).map(([id]) => id)).toEqual(['c1', 'c2', 'c3']);
  });

  it('are kept when a restarted tool pauses again', async () => {
    const { ran, tools, transfer, ask } = buildTools();
    const { model, server } = await scripted(
      calls(call('c1', 'look', { key: 'a' }), transferCall('c2', 5), call('c3', 'ask', { question: 'Why?' })),
      says('Done.'),
    );
    const first = await generate({ model, tools, prompt: 'Go' });
    const second = await generate({
      model,
      tools,
      messages: stored(first.messages),
      resume: {
        restart: [transfer.restart(waiting(first, 'c2'), { again: true })],
        respond: [ask.respond(waiting(first, 'c3'), { answer: 'So.' })],
      },
    });
    expect(second.finishReason).toBe('interrupted');
    expect(second.interrupts).toMatchObject([{ toolRequest: { ref: 'c2' }, metadata: { limit: 200 } }]);
    await generate({
      model,
      tools,
      messages: stored(second.messages),
      resume: { restart: [transfer.restart(waiting(second, 'c2'))] },
    });
    expect(sentResults(server)).toEqual([
      ['c1', 'value of a'],
      ['c2', '{"moved":5}'],
      ['c3', '{"answer":"So."}'],
    ]);
    expect(ran).toEqual(['look a', 'transfer 5']);
  });

  it('go to the model in the order of the calls, whatever finishes first', async () => {
    const ended: string[] = [];
    const wait = defineTool(
      {
        name: 'wait',
        description: 'Waits.',
        inputSchema: z.object({ id: z.string(), after: z.string().optional(), pause: z.boolean() }),
      },
      async ({ id, after, pause }, { resumed, interrupt }) => {
        if (pause && resumed === undefined) interrupt();
        if (after !== undefined) await expect.poll(() => ended).toContain(after);
        ended.push(id);
        return id;
      },
    );
    const waits = (id: string, pause: boolean, after?: string) => call(id, 'wait', { id, after, pause });
    const { model, server } = await scripted(
      calls(waits('a', true, 'c'), waits('b', false, 'd'), waits('c', true), waits('d', false)),
      says('Done.'),
    );
    const paused = await generate({ model, tools: [wait], prompt: 'Go' });
    expect(paused.interrupts.map(({ toolRequest }) => toolRequest.ref)).toEqual(['a', 'c']);
    const restart = ['c', 'a'].map((ref) => wait.restart(waiting(paused, ref)));
    await generate({ model, tools: [wait], messages: stored(paused.messages), resume: { restart } });
    expect(ended).toEqual(['d', 'b', 'c', 'a']);
    expect(sentResults(server).map(([id]) => id)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('calls that wait together', () => {
  it('of one tool, with different refs, are each settled in their own way', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model, server } = await scripted(
      calls(transferCall('c1', 1), transferCall('c2', 1), transferCall('c3', 1), transferCall('c4', 1)),
      says('Done.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    await generate({
      model,
      tools,
      messages: stored(paused.messages),
      resume: {
        restart: [
          transfer.restart(waiting(paused, 'c4'), {}, { replaceInput: { amount: 4 } }),
          transfer.restart(waiting(paused, 'c2'), { deny: true }),
        ],
        respond: [transfer.respond(waiting(paused, 'c1'), { moved: 11 })],
        close: [closeInterrupt(waiting(paused, 'c3'), 'expired', 'Nobody came.')],
      },
    });
    expect(sentResults(server)).toEqual([
      ['c1', '{"moved":11}'],
      ['c2', '{"status":"denied","reason":"too much"}'],
      ['c3', '{"status":"expired","reason":"Nobody came."}'],
      ['c4', '{"moved":4}'],
    ]);
    expect(ran).toEqual(['transfer 4']);
  });

  it('can be settled one by one while the others wait; generate goes on with the rest', async () => {
    const { ran, tools, transfer, ask } = buildTools();
    const { model, server } = await scripted(
      calls(transferCall('c1', 1), call('c2', 'ask', { question: 'Why?' }), transferCall('c3', 3)),
      says('Done.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    const one = await settle({
      tools,
      messages: stored(paused.messages),
      resume: { restart: [transfer.restart(waiting(paused, 'c3'))] },
    });
    expect(ran).toEqual(['transfer 3']);
    expect(one.interrupts.map(({ id }) => id)).toEqual([waiting(paused, 'c1').id, waiting(paused, 'c2').id]);
    expect(one.newMessages).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
    const two = await settle({
      tools,
      messages: stored(one.messages),
      resume: { respond: [ask.respond(waiting(paused, 'c2'), { answer: 'So.' })] },
    });
    const done = await generate({
      model,
      tools,
      messages: stored(two.messages),
      resume: { restart: [transfer.restart(waiting(paused, 'c1'))] },
    });
    expect(done.finishReason).toBe('stop');
    expect(ran).toEqual(['transfer 3', 'transfer 1']);
    expect(sentResults(server).map(([id]) => id)).toEqual(['c1', 'c2', 'c3']);
  });

  it('can all be settled one by one, and then generate needs no replies', async () => {
    const { tools, transfer } = buildTools();
    const { model } = await scripted(calls(transferCall('c1', 1)), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const resume = { restart: [transfer.restart(waiting(paused, 'c1'))] };
    const settled = await settle({ tools, messages: paused.messages, resume });
    expect(settled.interrupts).toEqual([]);
    expect(await generate({ model, tools, messages: stored(settled.messages) })).toMatchObject({
      finishReason: 'stop',
      text: 'Done.',
    });
  });

  it('are closed without their tool being there', async () => {
    const { ran, tools } = buildTools();
    const { model } = await scripted(calls(transferCall('c1', 1), transferCall('c2', 2)), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const close = [
      closeInterrupt(waiting(paused, 'c1'), 'denied', 'No.'),
      closeInterrupt(waiting(paused, 'c2'), 'expired', 'Too late.'),
    ];
    const done = await generate({ model, messages: stored(paused.messages), resume: stored({ close }) });
    expect(done.newMessages[0]).toMatchObject({ content: [{ status: 'denied' }, { status: 'closed' }] });
    expect(ran).toEqual([]);
  });
});

describe('a prompt beside replies', () => {
  it('comes after the results of respond and close', async () => {
    const { tools, ask } = buildTools();
    const { model, server } = await scripted(
      calls(call('c1', 'ask', { question: 'Why?' }), transferCall('c2', 2)),
      says('Done.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    const resume = {
      respond: [ask.respond(waiting(paused, 'c1'), { answer: 'So.' })],
      close: [closeInterrupt(waiting(paused, 'c2'), 'withdrawn', 'Changed my mind.')],
    };
    await generate({ model, tools, messages: stored(paused.messages), resume, prompt: 'Forget it.' });
    expect(latestRequest(server).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  it('is refused beside restart, and nothing runs', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model } = await scripted(calls(transferCall('c1', 1)));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const resume = { restart: [transfer.restart(waiting(paused, 'c1'))] };
    const refused = await rejection(
      generate({ model, tools, messages: paused.messages, resume, prompt: 'Hurry.' }),
    );
    expect(refused).toBeInstanceOf(DefinitionError);
    expect(refused).toMatchObject({ code: 'invalid-option' });
    expect(ran).toEqual([]);
  });
});
