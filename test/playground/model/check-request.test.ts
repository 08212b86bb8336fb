import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { chatParameters } from '../../../playground/model/chat-request.ts';
import { checkRequest } from '../../../playground/model/check-request.ts';

const user = { role: 'user', content: 'Refund order 7.' };
const call = (id: string, name = 'refund', args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string, content: unknown = 'done') => ({ role: 'tool', tool_call_id: id, content });
const tool = (name: string, rest: object = {}) => ({ type: 'function', function: { name, ...rest } });

const checkBody = (rest: object) => checkRequest({ model: 'scripted', messages: [user], ...rest });
const checkHistory = (...messages: unknown[]) => checkBody({ messages });
const checkParameters = (parameters: unknown, strict = false) =>
  checkBody({ tools: [tool('refund', { parameters, strict })] });

describe('a request that OpenAI takes', () => {
  it.each([
    ['text alone', [user]],
    [
      'a system and a developer message',
      [{ role: 'system', content: 'a' }, { role: 'developer', content: 'b' }, user],
    ],
    ['content in parts', [{ role: 'user', content: [{ type: 'text', text: 'a' }] }]],
    ['results in another order', [user, calling(call('a'), call('b')), result('b'), result('a'), user]],
    ['a call with text before it', [user, { ...calling(call('a')), content: 'Doing it.' }, result('a')]],
    ['a result in parts', [user, calling(call('a')), result('a', [{ type: 'text', text: 'x' }])]],
    ['two turns of calls', [user, calling(call('a')), result('a'), calling(call('b')), result('b')]],
  ])('%s', (_name, messages) => {
    expect(checkHistory(...messages)).toBeUndefined();
  });

  it('has tools with object parameters, or with none', () => {
    const parameters = { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } } } };
    const choice = { type: 'function', function: { name: 'refund' } };
    const tools = [tool('refund', { parameters, description: 'x'.repeat(1024) }), tool('stop')];
    expect(
      checkBody({ tools, tool_choice: choice, parallel_tool_calls: false, temperature: 0 }),
    ).toBeUndefined();
  });

  it('may use every parameter of the client and no other', () => {
    expectTypeOf<(typeof chatParameters)[number]>().toEqualTypeOf<
      keyof ChatCompletionCreateParamsStreaming
    >();
  });
});

describe('tools are refused', () => {
  const many = Array.from({ length: 129 }, (_, index) => tool(`tool_${index}`));
  it.each<[string, object[], string, string]>([
    ['when the list is empty', [], 'tools', 'empty array'],
    ['beyond 128', many, 'tools', 'maximum length 128, but got an array with length 129 instead.'],
    ['when two share a name', [tool('a'), tool('a')], 'tools[1].function.name', "'a' is given twice"],
    ['for a dot in the name', [tool('a.b')], 'tools[0].function.name', 'string does not match pattern'],
    ['for an empty name', [tool('')], 'tools[0].function.name', 'empty string'],
    ['for a name over 64 characters', [tool('a'.repeat(65))], 'tools[0].function.name', 'maximum length 64'],
    [
      'for a description over 1024 characters',
      [tool('a', { description: 'x'.repeat(1025) })],
      'tools[0].function.description',
      'string too long. Expected a string with maximum length 1024, but got a string with length 1025 instead.',
    ],
    [
      'for a key of another protocol',
      [tool('a', { inputSchema: {} })],
      'tools[0].function.inputSchema',
      'Unknown',
    ],
    ['for another type', [{ type: 'retrieval' }], 'tools[0].type', "Invalid value: 'retrieval'."],
  ])('%s', (_name, tools, param, message) => {
    expect(checkBody({ tools })).toMatchObject({
      status: 400,
      param,
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, unknown, string]>([
    ['are a list', { type: 'array', items: {} }, 'got \'type: "array"\'.'],
    ['have no type', { properties: {} }, 'got \'type: "None"\'.'],
    ['have a union at the top', { type: 'object', properties: {}, anyOf: [{}] }, 'at the top level.'],
    ['have no properties', { type: 'object' }, 'In context=(), object schema missing properties.'],
    [
      'hold an array of nothing',
      { type: 'object', properties: { tags: { type: 'array' } } },
      "In context=('properties', 'tags'), array schema missing items.",
    ],
  ])('whose parameters %s', (_name, parameters, message) => {
    expect(checkParameters(parameters)).toMatchObject({
      param: 'tools[0].function.parameters',
      code: 'invalid_function_parameters',
      message: expect.stringMatching(/^Invalid schema for function 'refund': /),
    });
    expect(checkParameters(parameters)?.message).toContain(message);
  });

  it('whose parameters are a string', () => {
    expect(checkParameters('none')).toMatchObject({
      param: 'tools[0].function.parameters',
      code: 'invalid_type',
    });
  });

  it('that are strict and leave a property optional or the object open', () => {
    const closed = { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false };
    expect(checkParameters({ ...closed, required: ['id'] }, true)).toBeUndefined();
    expect(checkParameters(closed, false)).toBeUndefined();
    expect(checkParameters(closed, true)?.message).toContain("Missing 'id'.");
    expect(checkParameters({ type: 'object', properties: {} }, true)?.message).toContain(
      "'additionalProperties'",
    );
  });
});

describe('a body is refused', () => {
  it.each<[string, object, string | null, string]>([
    [
      'for an unknown parameter',
      { thinking: true },
      null,
      'Unrecognized request argument supplied: thinking',
    ],
    ['for two of them', { a: 1, b: 2 }, null, 'Unrecognized request arguments supplied: a, b'],
    ['without a model', { model: undefined }, null, 'you must provide a model parameter'],
    ['without messages', { messages: undefined }, 'messages', "Missing required parameter: 'messages'."],
    [
      'for stream options without a stream',
      { stream_options: { include_usage: true } },
      'stream_options',
      'only allowed',
    ],
    [
      'for a tool choice without tools',
      { tool_choice: 'auto' },
      'tool_choice',
      "only allowed when 'tools' are specified.",
    ],
    [
      'for parallel calls without tools',
      { parallel_tool_calls: true },
      'parallel_tool_calls',
      'only allowed',
    ],
    [
      'for a choice of a tool that is not there',
      { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'b' } } },
      'tool_choice',
      "'b' is not in 'tools'",
    ],
    [
      'for an unknown tool choice',
      { tools: [tool('a')], tool_choice: 'any' },
      'tool_choice',
      "Invalid value: 'any'.",
    ],
    [
      'for a choice of another type',
      { tools: [tool('a')], tool_choice: { type: 'any', function: { name: 'a' } } },
      'tool_choice.type',
      "Invalid value: 'any'.",
    ],
    [
      'for a high temperature',
      { temperature: 2.5 },
      'temperature',
      'decimal above maximum value. Expected a value <= 2',
    ],
    [
      'for a stream that is a string',
      { stream: 'yes' },
      'stream',
      'expected a boolean, but got a string instead.',
    ],
  ])('%s', (_name, rest, param, message) => {
    expect(checkBody(rest)).toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
  });

  it('for a model that does not exist, as not found', () => {
    expect(checkBody({ model: 'gpt-9' })).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(checkRequest({ model: 'mine', messages: [user] }, ['mine'])).toBeUndefined();
  });

  it.each([[null], [[]], ['text'], [7]])('when it is %j', (body) => {
    expect(checkRequest(body)).toMatchObject({
      status: 400,
      message: expect.stringContaining('could not parse'),
    });
  });
});
