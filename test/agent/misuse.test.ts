import { describe, expect, it } from 'vitest';
import {
  closeInterrupt,
  DefinitionError,
  defineInterrupt,
  defineTool,
  generate,
  type Model,
  ReplyError,
  restartInside,
  settle,
} from '../../src/index.ts';
import { buildTools, call, calls, rejection, says, scripted, stored, waiting } from './support.ts';

/** A value that the types would not let through, as a caller without types gives it. */
const untyped = (json: string): never => JSON.parse(json) as never;

describe('a definition is refused at once', () => {
  const definitions: [title: string, define: () => unknown, error: object][] = [
    [
      'without a function',
      () => defineTool({ name: 'pay', description: 'Pays.' }, undefined as never),
      { code: 'missing-function', tool: 'pay' },
    ],
    [
      'with something else in its place',
      () => defineTool({ name: 'pay', description: 'Pays.' }, untyped('{}')),
      { code: 'missing-function', tool: 'pay' },
    ],
    ['without a name', () => defineInterrupt(untyped('{"description":"Asks."}')), { code: 'invalid-name' }],
    [
      'with a name that models refuse',
      () => defineInterrupt({ name: 'ask me', description: 'Asks.' }),
      { code: 'invalid-name', tool: 'ask me' },
    ],
  ];
  it.each(definitions)('%s', (_title, define, error) => {
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow(expect.objectContaining(error));
  });
});

describe('an option of the wrong kind is refused with a clear error', () => {
  const { tools } = buildTools();

  it.each([
    ['a text', '"Hello"', 'messages must be a list, not string'],
    ['an object', '{"role":"user"}', 'messages must be a list, not object'],
    ['null', 'null', 'messages must be a list, not null'],
  ])('messages that are %s', async (_title, json, message) => {
    const { model } = await scripted();
    const messages = untyped(json);
    for (const refused of [
      await rejection(generate({ model, tools, messages, prompt: 'Go' })),
      await rejection(settle({ tools, messages, resume: {} })),
    ]) {
      expect(refused).toBeInstanceOf(DefinitionError);
      expect(refused).toMatchObject({ code: 'invalid-option', message });
    }
  });

  it.each([
    ['"look"', 'tools must be a list, not string'],
    ['[null]', 'tools[0] is no tool; define it with defineTool or defineInterrupt'],
    ['[{"name":"look"}]', 'tools[0] is no tool; define it with defineTool or defineInterrupt'],
  ])('tools that are %s', async (json, message) => {
    const { model } = await scripted();
    const refused = await rejection(generate({ model, tools: untyped(json), prompt: 'Go' }));
    expect(refused).toBeInstanceOf(DefinitionError);
    expect(refused).toMatchObject({ code: 'invalid-option', message });
  });

  it.each([
    '"yes"',
    '[5]',
    '[{}]',
    '5',
    '{"respond":{}}',
    '{"respond":"yes"}',
    '{"restart":{}}',
    '{"close":5}',
  ])('a resume that is %s', async (json) => {
    const { model } = await scripted();
    const resume = untyped(json);
    for (const refused of [
      await rejection(generate({ model, tools, prompt: 'Go', resume })),
      await rejection(settle({ tools, messages: [], resume })),
    ]) {
      expect(refused).toBeInstanceOf(ReplyError);
      expect(refused).toMatchObject({ code: 'malformed-reply' });
    }
  });

  it('a resume that is missing', async () => {
    const refused = await rejection(settle({ tools, messages: [], resume: undefined as never }));
    expect(refused).toMatchObject({ name: 'ReplyError', code: 'malformed-reply' });
  });

  it('a resume that is no JSON', async () => {
    const refused = await rejection(settle({ tools, messages: [], resume: { respond: [1n] } as never }));
    expect(refused).toMatchObject({ name: 'ReplyError', code: 'malformed-reply' });
  });
});

describe('a reply to something that is no interrupt is refused where it is made', () => {
  const { ask, transfer } = buildTools();
  const given: [title: string, value: never][] = [
    ['an index, from a for...in loop', untyped('"0"')],
    ['nothing', undefined as never],
    ['the request of an interrupt', untyped('{"name":"ask","ref":"c1","input":{}}')],
  ];
  it.each(given)('%s', (_title, interrupt) => {
    for (const build of [
      () => ask.respond(interrupt, { answer: 'So.' }),
      () => transfer.restart(interrupt),
      () => closeInterrupt(interrupt, 'expired', ''),
      () => restartInside(interrupt, {}),
    ]) {
      expect(build).toThrow(ReplyError);
      expect(build).toThrow(expect.objectContaining({ code: 'malformed-reply', field: 'interrupt' }));
    }
  });
});

describe('a model of the caller', () => {
  it.each(['null', '{}', '{"finish":"stop","text":"Hi"}', '{"finish":"stop","calls":[]}'])(
    'that answers with %s is a model error, and the results before it are kept',
    async (json) => {
      const { ran, tools, transfer } = buildTools();
      const { model } = await scripted(calls(call('c1', 'transfer', { amount: 5 })));
      const paused = await generate({ model, tools, prompt: 'Go' });
      const own: Model = { name: 'own', reply: async () => untyped(json) };
      const failed = await generate({
        model: own,
        tools,
        messages: stored(paused.messages),
        resume: { restart: [transfer.restart(waiting(paused, 'c1'))] },
      });
      expect(failed).toMatchObject({ finishReason: 'model-error', error: { code: 'malformed-answer' } });
      expect(failed.newMessages).toHaveLength(1);
      expect(ran).toEqual(['transfer 5']);
    },
  );

  it('is not changed by what the loop keeps of its answer', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const own: Model = {
      name: 'own',
      reply: async () => ({ finish: 'stop', calls: [], usage, ...says('Hi.') }) as never,
    };
    await generate({ model: own, prompt: 'Go' });
    expect(Object.isFrozen(usage)).toBe(false);
  });
});
