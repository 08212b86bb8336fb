import { expect, test } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../../playground/model/chat-request.ts';
import { SCENES, SHOWN_SCENES } from '../../../playground/script/scenes.ts';
import { answerByScript } from '../../../playground/script/scripted-model.ts';

const TOOLS = ['ask_question', 'read_order', 'refund_order', 'deploy_service', 'delete_customer'];
const says = (words: string): ChatMessage => ({ role: 'user', content: `Remi Requester: ${words}` });
const order = { id: 'A-1001', customer: 'Hooper Ltd', item: 'Desk', amount: 45_000, refunded: 40_000 };

/** A call and what became of it, as the bot writes them into the history. */
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

/** The text and the calls with which the script answers a history. */
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
    /was rejected, so it did not run.*“Not on a Friday\.”/,
  ],
  [
    { status: 'denied', reason: 'not in this channel' },
    /was denied, so it did not run: not in this channel\./,
  ],
  [{ status: 'expired', reason: 'The request is expired' }, /it has expired, and nothing was done/],
  [{ status: 'withdrawn', reason: 'The request is withdrawn' }, /was withdrawn, so nothing was done/],
  [
    { status: 'error', message: 'No disk' },
    /The deployment of checkout 2\.4\.1 ended with an error: No disk\./,
  ],
  [
    { status: 'ran', reason: 'The outcome was unknown, and a person found out: I see it.' },
    /says that it did run\. Their note: “I see it\.”$/,
  ],
  [
    { status: 'did-not-run', reason: 'The outcome was unknown, and a person found out' },
    /says that it did not run\. Say it again/,
  ],
  [{ status: 'failed', reason: 'Nobody can sign this' }, /ended as "failed": Nobody can sign this\./],
])('of a call that ended as %o it claims no success and makes no second call', async (result, words) => {
  const { text, calls } = await answer(deploy(result));
  expect(text).toMatch(words);
  expect(text).not.toContain('is deployed');
  expect(calls).toEqual([]);
});

test('what ran is told by the output, not by what was asked for', async () => {
  const { text } = await answer(deploy({ deployed: 'checkout@2.4.0', environment: 'staging' }));
  expect(text).toBe('checkout@2.4.0 is deployed to staging.');
});

test('an expired call that is asked for again is made unchanged, and its outcome told', async () => {
  const again = says(
    'The request for refund_order expired. Please ask for it again with exactly these arguments: {"orderId":"A-1001","amount":12000}',
  );
  const input = { orderId: 'A-1001', amount: 12_000 };
  expect((await answer([again])).calls).toEqual([{ name: 'refund_order', arguments: input }]);
  const { text, calls } = await answer([again, ...called('refund_order', input, { refunded: 12_000 })]);
  expect(text).toBe('Done after all: `{"refunded":12000}`.');
  expect(calls).toEqual([]);
});

test('more than is left of an order is not asked for', async () => {
  const { text, calls } = await answer([
    says('refund 120 dollars of A-1001'),
    ...called('read_order', { orderId: 'A-1001' }, order),
  ]);
  expect(text).toContain('only $50.00 is left to refund, so I do not ask for $120.00');
  expect(calls).toEqual([]);
});

test('an order that is not there ends the refund', async () => {
  const { text, calls } = await answer([
    says('refund 120 dollars of A-9999'),
    ...called('read_order', { orderId: 'A-9999' }, { status: 'error', message: 'There is no order A-9999' }),
  ]);
  expect(text).toBe(
    'Reading order A-9999 ended with an error: There is no order A-9999. Nothing was refunded.',
  );
  expect(calls).toEqual([]);
});

test('who has to approve is told by the rules that the bot gave, and by nothing else', async () => {
  const words = [says('Please delete the customer Ines Marr.')];
  const system = '- delete_customer: needs 2 approvals by policy "destructive" (S0APPROVE1, U0ADMIN004)';
  const { text, calls } = await answer(words, { system });
  expect(text).toMatch(/`delete_customer` needs 2 approvals by policy "destructive"\.$/);
  expect(calls).toEqual([{ name: 'delete_customer', arguments: { customer: 'Ines Marr' } }]);
  expect((await answer(words)).text).not.toContain('approval');
});

test('a tool that it does not have is not called, and it says so', async () => {
  const { text, calls } = await answer([says('deploy checkout 2.4.1')], { tools: ['read_order'] });
  expect(text).toContain('the tool `deploy_service`, which I do not have here');
  expect(calls).toEqual([]);
});

test('other words get a plain list of what it understands, and each of these is understood', async () => {
  const { text } = await answer([says('What is the meaning of life?')]);
  expect(text).toContain('I am a scripted model with fixed rules, not an AI');
  expect(text).toContain('OPENAI_API_KEY');
  for (const scene of SHOWN_SCENES) {
    expect(text).toContain(`- ${scene.example}`);
    expect(SCENES.find(({ takes }) => takes.some((pattern) => pattern.test(scene.example)))).toBe(scene);
  }
});

test('of several messages the last is taken, and it says so', async () => {
  const { text, calls } = await answer([says('hello'), says('what was in order A-1001?')]);
  expect(text).toBe('I take one message at a time, and of these the last.\n\n');
  expect(calls).toEqual([{ name: 'read_order', arguments: { orderId: 'A-1001' } }]);
});

test('an earlier wish that was not finished is left where it is, in words', async () => {
  const { text } = await answer([
    says('refund something'),
    ...called('ask_question', { question: 'Which order was it?' }, 'A-1001'),
    says('hello'),
  ]);
  expect(text).toMatch(
    /^I leave “refund something” where it is; say it again if you still want it\.\n\nI am a scripted/,
  );
});

test('words come in many pieces, so that they are seen being written', async () => {
  expect((await answer([says('hello')])).pieces).toBeGreaterThan(20);
});
