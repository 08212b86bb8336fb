import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ChatMessage, ChatRequest } from '../../../playground/model/chat-request.ts';
import { exampleCall } from '../../../playground/scripted-model/example-call.ts';
import { answerByScript } from '../../../playground/scripted-model/scripted-model.ts';

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  pick_room: z.object({ question: z.string(), choices: z.array(z.string()).min(2) }),
  transfer_money: z.object({ to: z.string(), amount: z.number().min(10), note: z.string().optional() }),
  list_rooms: z.object({}),
};
const TOOLS = Object.entries(SCHEMAS).map(([name, schema]) => ({ name, schema: z.toJSONSchema(schema) }));
const NAMES = 'The tools are `pick_room`, `transfer_money`, `list_rooms`';

const says = (words: string): ChatMessage => ({ role: 'user', content: `Remi Laurent: ${words}` });

/** One answer of the model with calls, and their results, as the bot writes them into the history. */
function called(
  ...made: readonly (readonly [name: string, input: object, result: unknown])[]
): ChatMessage[] {
  const calls = made.map(([name, input, result], index) => ({ name, input, result, id: `call_${index}` }));
  return [
    {
      role: 'assistant',
      tool_calls: calls.map(({ id, name, input }) => ({
        ...{ id, type: 'function' as const },
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    ...calls.map(({ id, result }) => ({
      ...{ role: 'tool' as const, tool_call_id: id },
      content: typeof result === 'string' ? result : JSON.stringify(result),
    })),
  ];
}

async function answer(...messages: readonly ChatMessage[]) {
  const request: ChatRequest = {
    model: 'scripted',
    messages: [{ role: 'system', content: 'Help.' }, ...messages],
    tools: TOOLS.map(({ name, schema }) => ({ type: 'function', function: { name, parameters: schema } })),
  };
  const reply = await answerByScript(request, 0);
  if (reply === undefined || !('text' in reply || 'calls' in reply)) throw new Error('It has no answer.');
  const { text = [] } = 'text' in reply ? reply : {};
  return { text: [text].flat().join(''), calls: 'calls' in reply ? reply.calls : [] };
}

const transfer = { name: 'transfer_money', arguments: { to: 'A } "b', amount: 12_000, deep: { x: [1] } } };
const written = `call transfer_money ${JSON.stringify(transfer.arguments)}`;
const room = { name: 'pick_room', arguments: { question: 'Which room?', choices: ['Red', 'Blue'] } };
const roomWritten = JSON.stringify(room.arguments, null, 2);

test.each([
  ['one call', written, [transfer]],
  ['a call with a full stop, and Call with a capital', `Call ${written.slice(5)}.`, [transfer]],
  ['a line each', `${written}\ncall pick_room ${roomWritten}`, [transfer, room]],
  ['calls with and', `${written} and pick_room ${roomWritten}`, [transfer, room]],
  ['calls with and call', `${written}, and call pick_room ${roomWritten}`, [transfer, room]],
  ['the same tool twice', `${written}\n${written}`, [transfer, transfer]],
  ['a tool without input', 'call list_rooms', [{ name: 'list_rooms', arguments: {} }]],
  [
    'a tool without input before another',
    `call list_rooms and ${written}`,
    [{ name: 'list_rooms', arguments: {} }, transfer],
  ],
])('makes exactly the calls that a person writes: %s', async (_what, message, calls) => {
  expect((await answer(says(message))).calls).toEqual(calls);
});

test.each([
  ['call refund_order {"orderId":"A-1001"}', 'There is no tool `refund_order` here.'],
  [`${written} and refund {}`, 'There is no tool `refund` here.'],
  ['call me', 'There is no tool `me` here.'],
  ['call transfer_money {"to": Ana}', 'The input of `transfer_money` must be one JSON object'],
  ['call transfer_money {"to": "Ana"', 'The input of `transfer_money` must be one JSON object'],
  ['call transfer_money 12 dollars', 'The input of `transfer_money` must be one JSON object'],
  ['call transfer_money ["a"]', 'The input of `transfer_money` must be one JSON object'],
])('answers %j with the problem and the names of the tools, and calls nothing', async (message, problem) => {
  const { text, calls } = await answer(says(message));
  expect(text).toMatch(new RegExp(`^${problem.replaceAll(/[`.]/g, '\\$&')}`));
  expect(text).toContain('Nothing was called.');
  expect(text).toContain(NAMES);
  expect(calls).toEqual([]);
});

test('says each result in one sentence, and calls nothing again', async () => {
  const message = says(`${written}\ncall pick_room ${roomWritten}\ncall list_rooms`);
  const { text, calls } = await answer(
    message,
    ...called(
      ['transfer_money', transfer.arguments, { status: 'denied', reason: 'Rejected by U1: Too much.' }],
      ['pick_room', room.arguments, 'Red'],
      ['list_rooms', {}, { rooms: 2 }],
    ),
  );
  expect(text.split('\n')).toEqual([
    "The call of `transfer_money` was rejected, so it didn't run. Reason: “Too much.” I won't retry.",
    '`pick_room` returned “Red”.',
    '`list_rooms` returned {"rooms":2}.',
  ]);
  expect(calls).toEqual([]);
});

test('lists the tools that there are for any other message, and no message of the shop', async () => {
  const { text } = await answer(says('hello'));
  for (const tool of TOOLS) expect(text).toContain(`- \`${exampleCall(tool)}\``);
  expect(text).not.toMatch(/refund|order|deploy/);
  const { text: missing } = await answer(says('Please refund 120 dollars of order A-1001.'));
  expect(missing).toContain("the tool `read_order`, which isn't available here");
  expect(missing).toContain('- `call transfer_money ');
});

const kinds: readonly (readonly [string, z.ZodType])[] = [
  ...Object.entries(SCHEMAS),
  ['enum', z.object({ size: z.enum(['small', 'large']) })],
  ['union', z.object({ id: z.union([z.number(), z.string()]) })],
  ['formats', z.object({ mail: z.email(), url: z.url(), day: z.iso.date(), at: z.iso.datetime() })],
  ['numbers', z.object({ count: z.int().min(3), over: z.number().gt(7) })],
  ['nested', z.object({ customer: z.object({ tags: z.array(z.boolean()), name: z.string() }) })],
  ['literal', z.object({ kind: z.literal('a') })],
];

test.each(kinds)('an example call of %s can be sent as it is and fits the schema', (name, schema) => {
  const line = exampleCall({ name, schema: z.toJSONSchema(schema) });
  const [, json = ''] = new RegExp(`^call ${name} (.*)$`).exec(line) ?? [];
  expect(schema.safeParse(JSON.parse(json)).error).toBeUndefined();
});

test('an example leaves out what may be empty', () => {
  const properties = { to: { type: 'string' }, note: { type: ['string', 'null'] } };
  const schema = { type: 'object', properties, required: ['to', 'note'] };
  expect(exampleCall({ name: 'pay', schema })).toBe('call pay {"to":"to"}');
  expect(exampleCall({ name: 'pay', schema: undefined })).toBe('call pay {}');
});
