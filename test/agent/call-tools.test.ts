import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { userMessage } from '../../src/agent/messages.ts';
import { callTools } from '../../src/agent/run-steps.ts';
import { Transcript } from '../../src/agent/transcript.ts';

const ran: unknown[] = [];
const book = defineTool(
  {
    name: 'book',
    description: 'Books a room.',
    inputSchema: z.object({ room: z.string() }),
  },
  async (input) => {
    ran.push(input);
    return { booked: input.room };
  },
);
const ask = defineTool(
  {
    name: 'ask_first',
    description: 'Asks first.',
    inputSchema: z.object({}),
  },
  async (_, { interrupt }) => interrupt({ message: 'Sure?' }),
);
const messages = [userMessage('book a room')];

function call(name: string, input: object) {
  return { id: `call-${name}`, name, arguments: JSON.stringify(input) };
}

test('exact calls have their results, and no model is asked', async () => {
  const made = await callTools({
    messages,
    tools: [book],
    calls: [call('book', { room: 'A' })],
    text: 'why',
  });
  expect(made.map(({ role }) => role)).toEqual(['user', 'model', 'tool']);
  expect(ran).toEqual([{ room: 'A' }]);
  expect(made[2]?.content).toMatchObject([{ status: 'ok', toolResponse: { output: { booked: 'A' } } }]);
  expect(Transcript.latestRound(made).text).toBe('why');
});

test('a call that does not fit its tool is answered and does not run; one that asks waits', async () => {
  const calls = [call('book', { room: 7 }), call('ask_first', {}), call('gone', {})];
  const made = await callTools({ messages, tools: [book, ask], calls });
  expect(ran).toHaveLength(1);
  expect(made[2]?.content).toMatchObject([
    { status: 'error', toolResponse: { ref: 'call-book' } },
    { interrupt: { toolRequest: { name: 'ask_first' } } },
    { status: 'error', toolResponse: { ref: 'call-gone' } },
  ]);
});
