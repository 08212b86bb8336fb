import { expect, test } from 'vitest';
import { type ChatQuirk, chatRequest } from '../../../src/agent/openai/chat.ts';
import type { AdapterRequest } from '../../../src/agent/openai/request.ts';

const build = (request: Partial<AdapterRequest>, ...quirks: ChatQuirk[]) =>
  chatRequest(
    {
      model: 'm',
      system: undefined,
      history: [],
      tools: [],
      config: {},
      dataOf: ({ provider }) => provider?.data,
      ...request,
    },
    new Set(quirks),
  );

const inputSchema = { type: 'object', properties: { order: { type: 'string' } } } as const;

test('a request holds the system text, the history in order and the tools', () => {
  const request = build({
    model: 'model "one"',
    system: 'Help.',
    history: [
      { role: 'user', text: 'Say "hi"\n' },
      { role: 'model', text: '', calls: [{ ref: 'c1', name: 'refund it', input: { a: 1 }, output: [2] }] },
      { role: 'model', text: 'Done.', calls: [] },
    ],
    tools: [{ name: 'refund', description: 'Refunds.', inputSchema }],
  });
  expect(request).toEqual({
    model: 'model "one"',
    messages: [
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'Say "hi"\n' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'refund_it', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '[2]' },
      { role: 'assistant', content: 'Done.' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'refund', description: 'Refunds.', parameters: inputSchema } },
    ],
  });
});

test.each([
  ['a system text', undefined, [{ role: 'user', text: 'Hi' }] as const, 1],
  ['a history', 'Help.', [], 1],
  ['either', undefined, [], 0],
])('a request without %s is valid, and without tools names none', (_, system, history, messages) => {
  const request = build({ system, history });
  expect(request.messages).toHaveLength(messages);
  expect(request).not.toHaveProperty('tools');
});

test('a tool without properties is described with an empty list of them', () => {
  const tools = [{ name: 'ping', description: '', inputSchema: { type: 'object' } }];
  expect(build({ tools }).tools).toMatchObject([
    { function: { parameters: { type: 'object', properties: {} } } },
  ]);
});
