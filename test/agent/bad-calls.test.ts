import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallsReply, ScriptedCall } from '../../playground/model/model-reply.ts';
import { defineTool, generate } from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  latestRequest,
  says,
  scripted,
  sentCalls,
  sentResults,
  stored,
} from './support.ts';

/** The usual tools, one with a JSON Schema, one whose schema throws, and two with hostile names. */
function hostileTools() {
  const { ran, tools } = buildTools();
  const log = (name: string) => () => void ran.push(name);
  const foreign = defineTool(
    {
      name: 'foreign',
      description: 'Comes from elsewhere.',
      inputSchema: {
        type: 'object',
        properties: { to: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
        required: ['to'],
        additionalProperties: false,
      },
    },
    log('foreign'),
  );
  const fetchUrl = defineTool(
    {
      name: 'fetchUrl',
      description: 'Fetches.',
      inputSchema: z.object({ url: z.string().refine((url) => new URL(url).protocol === 'https:') }),
    },
    log('fetchUrl'),
  );
  const anything = defineTool(
    { name: 'anything', description: 'Takes anything.', inputSchema: { type: 'object' } },
    log('anything'),
  );
  return { ran, tools: [...tools, foreign, fetchUrl, anything] as const };
}

const deep = `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`;

const badCalls: [title: string, bad: ScriptedCall, told: RegExp][] = [
  ['with arguments that are no JSON', call('c1', 'transfer', 'amount: 5'), /not valid JSON: amount: 5/],
  ['with arguments that end too early', call('c1', 'ask', '{"question": "Wh'), /not valid JSON/],
  ['with arguments that are no object', call('c1', 'look', '"a"'), /do not fit the schema of \\"look\\"/],
  ['with arguments that are null', call('c1', 'transfer', 'null'), /do not fit the schema/],
  ['that lacks a field', call('c1', 'ask', {}), /do not fit the schema of \\"ask\\" at \\"question\\"/],
  ['with a field of a wrong type', call('c1', 'transfer', { amount: '5' }), /at \\"amount\\"/],
  ['without arguments where some are needed', call('c1', 'look', ''), /at \\"key\\"/],
  ['that lacks a field of a JSON Schema', call('c1', 'foreign', { to: {} }), /at \\"to\.city\\"/],
  [
    'with a field that a JSON Schema forbids',
    call('c1', 'foreign', { to: { city: 'x' }, sudo: true }),
    /at \\"sudo\\"/,
  ],
  [
    'on which the schema itself throws',
    call('c1', 'fetchUrl', { url: 'not a url' }),
    /do not fit.*Invalid URL/,
  ],
  ['nested 1,000 deep', call('c1', 'anything', deep), /nested more than 64 levels/],
  [
    'with a number beyond all bounds',
    call('c1', 'anything', '{"a":"1e400, [","list":[1,{"b":-1e400}]}'),
    /the number -1e400 at \\"list\.1\.b\\" cannot be kept exactly; send it as a string/,
  ],
  [
    'with an integer that would be rounded',
    call('c1', 'transfer', '{"amount":1152921504606846977}'),
    /the number 1152921504606846977 at \\"amount\\"/,
  ],
  [
    'of a tool that is not there',
    call('c1', 'refund', { amount: 5 }),
    /no tool \\"refund\\"; there are: transfer/,
  ],
  ['named __proto__', call('c1', '__proto__', {}), /no tool \\"__proto__\\"/],
  ['named constructor', call('c1', 'constructor', {}), /no tool \\"constructor\\"/],
  ['named toString', call('c1', 'toString', {}), /no tool \\"toString\\"/],
  [
    'with a name that no request may carry',
    call('c1', 'transfer now! 💸', {}),
    /no tool \\"transfer now! 💸\\"/,
  ],
  ['with a name of 500 letters', call('c1', 'x'.repeat(500), {}), /no tool \\"x{500}\\"/],
  ['with an empty name', call('c1', '', {}), /no tool \\"\\"/],
];

describe('a call', () => {
  it.each(badCalls)('%s never runs and never waits, and the model is told why', async (_title, bad, told) => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(calls(bad), says('Sorry.'));
    const response = await generate({ model, tools, prompt: 'Go' });
    expect(response).toMatchObject({ finishReason: 'stop', interrupts: [], text: 'Sorry.' });
    expect(ran).toEqual([]);
    expect(sentResults(server)).toEqual([['c1', expect.stringMatching(told)]]);
    expect(sentResults(server)[0]?.[1]).toMatch(/^\{"status":"error"/);
  });

  it.each(badCalls)('%s does not keep its siblings from running or waiting', async (_title, bad) => {
    const { ran, tools } = hostileTools();
    const good = [call('c0', 'look', { key: 'a' }), call('c2', 'ask', { question: 'Why?' })];
    const { model } = await scripted(calls(...good, bad));
    const response = await generate({ model, tools, prompt: 'Go' });
    expect(response.interrupts.map(({ toolRequest }) => toolRequest.ref)).toEqual(['c2']);
    expect(ran).toEqual(['look a']);
  });

  it('whose arguments are empty is one with no arguments', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(calls(call('c1', 'anything', '')), says('Done.'));
    await generate({ model, tools, prompt: 'Go' });
    expect(ran).toEqual(['anything']);
    expect(sentCalls(server)).toEqual([{ id: 'c1', name: 'anything', input: {} }]);
  });

  it('of a tool that somebody did define as __proto__ runs like any other', async () => {
    const ran: unknown[] = [];
    const odd = defineTool(
      { name: '__proto__', description: 'Odd.', inputSchema: z.object({ x: z.number() }) },
      ({ x }, { resumed, interrupt }) => {
        if (resumed === undefined) interrupt();
        ran.push(x);
        return x;
      },
    );
    const { model, server } = await scripted(calls(call('c1', '__proto__', { x: 1 })), says('Done.'));
    const paused = await generate({ model, tools: [odd], prompt: 'Go' });
    const restart = paused.interrupts.map((interrupt) => odd.restart(interrupt));
    await generate({ model, tools: [odd], messages: stored(paused.messages), resume: { restart } });
    expect(ran).toEqual([1]);
    expect(sentResults(server)).toEqual([['c1', '1']]);
  });

  it('with __proto__ among its arguments changes no prototype', async () => {
    const { tools } = hostileTools();
    const { model, server } = await scripted(
      calls(
        call(
          'c1',
          'anything',
          '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
        ),
      ),
      says('Done.'),
    );
    await generate({ model, tools, prompt: 'Go' });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(sentResults(server)).toEqual([['c1', 'null']]);
  });
});

describe('a call id', () => {
  it('that is used twice in a message runs only the first call', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(
      calls(
        call('c1', 'look', { key: 'a' }),
        call('c1', 'look', { key: 'b' }),
        call('c1', 'ask', { question: '?' }),
      ),
      says('Done.'),
    );
    const response = await generate({ model, tools, prompt: 'Go' });
    expect(response.interrupts).toEqual([]);
    expect(ran).toEqual(['look a']);
    const results = sentResults(server);
    expect(results.map(([, content]) => content)).toEqual([
      'value of a',
      expect.stringContaining('the call id \\"c1\\" was used before'),
      expect.stringContaining('the call id \\"c1\\" was used before'),
    ]);
    expect(new Set(results.map(([id]) => id)).size).toBe(3);
  });

  it('from earlier in the thread runs nothing, also after the thread was stored', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(
      calls(call('c1', 'look', { key: 'a' })),
      says('Done.'),
      calls(call('c1', 'ask', { question: '?' })),
      says('Done.'),
    );
    const first = await generate({ model, tools, prompt: 'Go' });
    const second = await generate({ model, tools, messages: stored(first.messages), prompt: 'Again' });
    expect(second).toMatchObject({ finishReason: 'stop', interrupts: [] });
    expect(ran).toEqual(['look a']);
    expect(sentResults(server)[1]?.[1]).toContain('was used before');
    expect(() => stored(second.messages)).not.toThrow();
  });

  it('that is too long for a request is shortened: the call runs once, and its repetition is seen', async () => {
    const { ran, tools } = hostileTools();
    const long = `call_${'x'.repeat(60)}`;
    const { model, server } = await scripted(
      calls(call(long, 'look', { key: 'a' }), call(long, 'look', { key: 'b' })),
      calls(call(long, 'look', { key: 'c' })),
      says('Done.'),
    );
    await generate({ model, tools, prompt: 'Go' });
    expect(ran).toEqual(['look a']);
    expect(sentResults(server).map(([, content]) => content)).toEqual([
      'value of a',
      expect.stringContaining('was used before'),
      expect.stringContaining('was used before'),
    ]);
  });

  it('that is missing is made up, and the call runs', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(
      calls(call('', 'look', { key: 'a' }), call('', 'look', { key: 'b' })),
      says('Done.'),
    );
    await generate({ model, tools, prompt: 'Go' });
    expect(ran).toEqual(['look a', 'look b']);
    expect(sentResults(server)).toHaveLength(2);
  });
});

describe('an answer that ended early', () => {
  const both = (finishReason: 'length' | 'content_filter'): CallsReply => ({
    text: 'I will',
    calls: [
      call('c1', 'look', { key: 'a' }),
      call('c2', 'transfer', { amount: 5 }),
      call('c3', 'ask', '{"que'),
    ],
    finishReason,
  });

  it('by the length limit runs none of its calls, also those that look whole, and the model is told', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(both('length'), says('Shorter.'));
    const response = await generate({ model, tools, prompt: 'Go' });
    expect(response).toMatchObject({ finishReason: 'stop', interrupts: [] });
    expect(ran).toEqual([]);
    const cut = expect.stringContaining('cut off by the length limit');
    expect(sentResults(server)).toEqual([
      ['c1', cut],
      ['c2', cut],
      ['c3', cut],
    ]);
  });

  it('by the content filter runs none of its calls and ends the loop with a valid history', async () => {
    const { ran, tools } = hostileTools();
    const { model, server } = await scripted(both('content_filter'), says('Better.'));
    const filtered = await generate({ model, tools, prompt: 'Go' });
    expect(filtered).toMatchObject({ finishReason: 'content-filter', interrupts: [], text: 'I will' });
    await generate({ model, tools, messages: stored(filtered.messages), prompt: 'Differently' });
    expect(ran).toEqual([]);
    expect(
      latestRequest(server)
        .messages.map(({ role }) => role)
        .join(' '),
    ).toBe('user assistant tool tool tool user');
    expect(sentResults(server)[0]).toEqual(['c1', expect.stringContaining('stopped by the content filter')]);
  });
});
