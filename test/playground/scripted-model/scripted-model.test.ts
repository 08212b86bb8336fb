import { expect, test } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../../playground/model/chat-request.ts';
import { EXAMPLE_RULES, RULES } from '../../../playground/scripted-model/rules.ts';
import { answerByScript } from '../../../playground/scripted-model/scripted-model.ts';

const TOOLS = ['ask_question', 'read_order', 'refund_order', 'deploy_service', 'delete_customer'];
const says = (words: string): ChatMessage => ({ role: 'user', content: `Remi Requester: ${words}` });
const order = { id: 'A-1001', customer: 'Hooper Ltd', item: 'Desk', amount: 45_000, refunded: 40_000 };

/** A call and its result, as the bot writes them into the history. */
function called(name: string, input: object, result: object | string): ChatMessage[] {
  const id = `call_${name}`;
  const content = typeof result === 'string' ? result : JSON.stringify(result);
  return [
    {
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ];
}

/** Returns the scripted model's text and calls for a history. */
async function answer(messages: ChatMessage[], { tools = TOOLS, system = 'Help.' } = {}) {
  const request: ChatRequest = {
    model: 'scripted',
    messages: [{ role: 'system', content: system }, ...messages],
    tools: tools.map((name) => ({ type: 'function', function: { name } })),
  };
  const reply = await answerByScript(request, 0);
  if (reply === undefined || !('text' in reply || 'calls' in reply)) throw new Error('It has no answer.');
  const { text = [] } = 'text' in reply ? reply : {};
  return {
    text: typeof text === 'string' ? text : text.join(''),
    pieces: text.length,
    calls: 'calls' in reply ? reply.calls : [],
  };
}

const deploy = (result: object) => [
  says('Please deploy checkout 2.4.1 to production.'),
  ...called('deploy_service', { service: 'checkout', version: '2.4.1', environment: 'production' }, result),
];

test.each([
  [
    { status: 'denied', reason: 'Rejected by U0BRUNO003: Not on a Friday.' },
    /was rejected, so it didn't run.*“Not on a Friday\.”/,
  ],
  [
    { status: 'denied', reason: 'not in this channel' },
    /was denied, so it didn't run: not in this channel\./,
  ],
  [{ status: 'expired', reason: 'The request is expired' }, /expired with no decision, so nothing was done/],
  [{ status: 'withdrawn', reason: 'The request is withdrawn' }, /was withdrawn, so nothing was done/],
  [{ status: 'error', message: 'No disk' }, /The deployment of checkout 2\.4\.1 failed: No disk\./],
  [
    { status: 'ran', reason: 'The outcome was unknown, and a person found out: I see it.' },
    /Someone checked and confirmed that it ran\. Their note: “I see it\.”$/,
  ],
  [
    { status: 'did-not-run', reason: 'The outcome was unknown, and a person found out' },
    /confirmed that it did not run\. Send it again/,
  ],
  [
    { status: 'failed', reason: 'Nobody can approve this' },
    /ended with status "failed": Nobody can approve this\./,
  ],
])('reports a call that ended as %o without claiming success or calling again', async (result, words) => {
  const { text, calls } = await answer(deploy(result));
  expect(text).toMatch(words);
  expect(text).not.toContain('Deployed');
  expect(calls).toEqual([]);
});

test('reports what ran from the output, not from the request', async () => {
  const { text } = await answer(deploy({ deployed: 'checkout@2.4.0', environment: 'staging' }));
  expect(text).toBe('Deployed checkout@2.4.0 to staging.');
});

test('repeats an expired call unchanged and reports its result', async () => {
  const again = says(
    'The request for refund_order expired. Please ask for it again with exactly these arguments: {"orderId":"A-1001","amount":12000}',
  );
  const input = { orderId: 'A-1001', amount: 12_000 };
  expect((await answer([again])).calls).toEqual([{ name: 'refund_order', arguments: input }]);
  const { text, calls } = await answer([again, ...called('refund_order', input, { refunded: 12_000 })]);
  expect(text).toBe('Done: \n- refunded: 12000');
  expect(calls).toEqual([]);
});

test('does not request more than is left of an order', async () => {
  const { text, calls } = await answer([
    says('refund 120 dollars of A-1001'),
    ...called('read_order', { orderId: 'A-1001' }, order),
  ]);
  expect(text).toContain("is left to refund, so I didn't request $120.00");
  expect(calls).toEqual([]);
});

test('an unknown order ends the refund', async () => {
  const { text, calls } = await answer([
    says('refund 120 dollars of A-9999'),
    ...called('read_order', { orderId: 'A-9999' }, { status: 'error', message: 'There is no order A-9999' }),
  ]);
  expect(text).toBe('Reading order A-9999 failed: There is no order A-9999. Nothing was refunded.');
  expect(calls).toEqual([]);
});

test('says how many approvals a call needs only when the system prompt is certain about it', async () => {
  const words = [says('Please delete the customer Ines Marr.')];
  const system = '- delete_customer: needs 2 approvals by policy "destructive" (S0APPROVE1, U0ADMIN004)';
  const { text, calls } = await answer(words, { system });
  expect(text).toMatch(/This needs 2 approvals\.$/);
  expect(calls).toEqual([{ name: 'delete_customer', arguments: { customer: 'Ines Marr' } }]);
  expect((await answer(words)).text).not.toContain('approval');
  const conditional =
    '- delete_customer: needs a signature by policy "finance" (U0ADMIN004) when input.amount > 10000';
  expect((await answer(words, { system: conditional })).text).not.toContain('approval');
});

test('does not call a tool it does not have, and says so', async () => {
  const { text, calls } = await answer([says('deploy checkout 2.4.1')], { tools: ['read_order'] });
  expect(text).toContain("the tool `deploy_service`, which isn't available here");
  expect(calls).toEqual([]);
});

test('lists what it understands for any other message, and understands each item', async () => {
  const tools = EXAMPLE_RULES.flatMap(({ tool }) => tool ?? []);
  const { text } = await answer([says('What is the meaning of life?')], { tools });
  expect(text).toContain("I'm a scripted model with fixed rules, not an AI");
  expect(text).toContain('OPENAI_API_KEY');
  for (const rule of EXAMPLE_RULES) {
    expect(text).toContain(`- ${rule.example}`);
    expect(RULES.find(({ patterns }) => patterns.some((pattern) => pattern.test(rule.example)))).toBe(rule);
  }
});

const read = (orderId: string) => [{ name: 'read_order', arguments: { orderId } }];

test('takes several messages together, and the newest one first', async () => {
  expect((await answer([says('hello'), says('what was in order A-1001?')])).calls).toEqual(read('A-1001'));
  expect((await answer([says('refund something'), says('120 dollars of A-1002')])).calls).toEqual(
    read('A-1002'),
  );
  expect((await answer([says('Look up A-1001'), says('Look up A-1003')])).calls).toEqual(read('A-1003'));
});

test('reads quoted messages, files and edited messages', async () => {
  const quoted: ChatMessage = {
    role: 'user',
    content: '[Context from Gil Navarro at 9:45, not an instruction]\n> The top of A-1001 is scratched.',
  };
  const file: ChatMessage = { role: 'user', content: '[File claim.txt, not an instruction]\n> Order A-1003' };
  expect((await answer([quoted, says('Please refund 120 dollars of it.')])).calls).toEqual(read('A-1001'));
  expect((await answer([says('Look up this order.'), file])).calls).toEqual(read('A-1003'));
  const { text } = await answer([file, says('What is this?')]);
  expect(text).toContain('- File claim.txt: Order A-1003');
  const redo = says('(replaces my earlier message) what was in order A-1004?');
  expect((await answer([says('what was in order A-1001?'), redo])).calls).toEqual(read('A-1004'));
});

test('answers a rejection with a smaller refund once, and never with one that nobody is asked about', async () => {
  const whole = { ...order, refunded: 0 };
  const rejected = (amount: number, why: string) => [
    says(`refund ${amount / 100} dollars of A-1001`),
    ...called('read_order', { orderId: 'A-1001' }, whole),
    ...called(
      'refund_order',
      { orderId: 'A-1001', amount },
      { status: 'denied', reason: `Rejected by U1: ${why}` },
    ),
  ];
  const amounts = async (messages: ChatMessage[]) =>
    (await answer(messages)).calls.map((call) => call.arguments);
  expect(await amounts(rejected(30_000, 'Too much.'))).toMatchObject([{ amount: 15_000 }]);
  expect(await amounts(rejected(30_000, 'At most $120.'))).toMatchObject([{ amount: 12_000 }]);
  expect(await amounts(rejected(30_000, 'At most 20 dollars.'))).toEqual([]);
  expect(await amounts(rejected(20_000, 'It is two years old.'))).toEqual([]);
});

test('says that it stopped working on an unfinished earlier request', async () => {
  const { text } = await answer([
    says('refund something'),
    ...called('ask_question', { question: 'Which order was it?' }, 'A-1001'),
    says('hello'),
  ]);
  expect(text).toMatch(
    /^I stopped working on “refund something”\. Send it again if you still want it\.\n\nI'm a scripted/,
  );
});

test('streams text in many chunks', async () => {
  expect((await answer([says('hello')])).pieces).toBeGreaterThan(20);
});
