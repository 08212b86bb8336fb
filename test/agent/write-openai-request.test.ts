import { expect, test } from 'vitest';
import { writeRequest, writeTool } from '../../src/agent/write-openai-request.ts';

const inputSchema = { type: 'object', properties: { order: { type: 'string' } } } as const;

test('a request holds the system text, the history in order and the tools', () => {
  const request = writeRequest('model "one"', {
    system: 'Help.',
    history: [
      { role: 'user', text: 'Say "hi"\n' },
      { role: 'model', text: '', calls: [{ ref: 'c1', name: 'refund it', input: { a: 1 }, output: [2] }] },
      { role: 'model', text: 'Done.', calls: [] },
    ],
    tools: [{ name: 'refund', description: 'Refunds.', inputSchema }],
  });
  expect(JSON.parse(request)).toEqual({
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
  ['without a system text', undefined, [{ role: 'user', text: 'Hi' }] as const, 1],
  ['without a history', 'Help.', [], 1],
  ['without either', undefined, [], 0],
])('a request %s is sound, and without tools names none', (_, system, history, messages) => {
  const request = JSON.parse(writeRequest('m', { system, history, tools: [] }));
  expect(request.messages).toHaveLength(messages);
  expect(request).not.toHaveProperty('tools');
});

test('a history that grew is sent with what it grew by', () => {
  const history = [{ role: 'user' as const, text: 'Hi' }];
  writeRequest('m', { system: undefined, history, tools: [] });
  history.push({ role: 'user', text: 'again' });
  expect(JSON.parse(writeRequest('m', { system: undefined, history, tools: [] })).messages).toHaveLength(2);
});

test('two tools that share a schema keep their own names', () => {
  const names = ['refund', 'charge'].map((name) => writeTool({ name, description: '', inputSchema }));
  expect(names.map((text) => JSON.parse(text).function.name)).toEqual(['refund', 'charge']);
});
