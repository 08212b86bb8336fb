import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../playground/model/chat-request.ts';
import { generate, type Message, userMessage } from '../../src/index.ts';
import { buildTools, call, calls, latestRequest, says, scripted, stored } from './support.ts';

const filler = 'words '.repeat(50);

/** A turn in which a person asks, the model looks something up, and answers. */
function turn(name: string): Message[] {
  const ref = `call_${name}`;
  return [
    userMessage(`ask ${name} ${filler}`),
    {
      v: 1,
      role: 'model',
      content: [{ toolRequest: { name: 'look', ref, input: { key: name } }, idempotencyKey: ref }],
    },
    { v: 1, role: 'tool', content: [{ toolResponse: { name: 'look', ref, output: filler }, status: 'ok' }] },
    { v: 1, role: 'model', content: [{ text: `answer ${name}` }] },
  ];
}

/** The model's input, in a few words per message. */
function outline(messages: readonly ChatMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `result ${message.tool_call_id}`;
    if (message.role === 'assistant' && message.tool_calls !== undefined) {
      return `call ${message.tool_calls.map(({ id }) => id).join(' ')}`;
    }
    const text = String(message.content);
    return message.role === 'system' || text.startsWith('[') ? text : text.split(' ').slice(0, 2).join(' ');
  });
}

async function sentFor(messages: readonly Message[], contextBudget: number | undefined, prompt?: string) {
  const { model, server } = await scripted(says('Yes.'));
  const { tools } = buildTools();
  const before = stored(messages);
  const response = await generate({
    model,
    tools,
    system: 'Be kind.',
    messages: before,
    prompt,
    contextBudget,
  });
  expect(response.messages.slice(0, before.length)).toEqual(before);
  return outline(latestRequest(server).messages);
}

const wholeTurn = (name: string) => [
  `ask ${name}`,
  `call call_${name}`,
  `result call_${name}`,
  `answer ${name}`,
];
const thread = [...turn('a'), ...turn('b'), ...turn('c')];

describe('a thread that outgrows its budget', () => {
  it('is sent whole without a budget, and within it', async () => {
    const whole = ['Be kind.', ...wholeTurn('a'), ...wholeTurn('b'), ...wholeTurn('c'), 'and now'];
    expect(await sentFor(thread, undefined, 'and now')).toEqual(whole);
    expect(await sentFor(thread, 700, 'and now')).toEqual(whole);
  });

  it('loses its oldest turns first, whole, and says so', async () => {
    expect(await sentFor(thread, 500, 'and now')).toEqual([
      'Be kind.',
      '[3 earlier messages were left out to fit the context]',
      ...wholeTurn('b'),
      ...wholeTurn('c'),
      'and now',
    ]);
    expect(await sentFor(thread, 300, 'and now')).toEqual([
      'Be kind.',
      '[6 earlier messages were left out to fit the context]',
      ...wholeTurn('c'),
      'and now',
    ]);
  });

  it('keeps the system text and what the person said last, however small the budget', async () => {
    expect(await sentFor(thread, 1, 'and now')).toEqual([
      'Be kind.',
      '[9 earlier messages were left out to fit the context]',
      'and now',
    ]);
  });

  it.each(Array.from({ length: 36 }, (_, index) => 20 * (index + 1)))(
    'is never sent with a call and its result apart, with a budget of %d',
    async (budget) => {
      const sent = await sentFor(thread, budget, 'and now');
      expect(sent.at(-1)).toBe('and now');
      expect(sent[0]).toBe('Be kind.');
      for (const name of ['a', 'b', 'c']) {
        const kept = wholeTurn(name).filter((line) => sent.includes(line));
        expect([[], wholeTurn(name)]).toContainEqual(kept);
      }
    },
  );

  it('within one long turn loses the oldest rounds of it', async () => {
    const [asked, ...round] = turn('a');
    const [, ...second] = turn('b');
    const [, ...third] = turn('c');
    const long = [asked, ...round.slice(0, 2), ...second.slice(0, 2), ...third.slice(0, 2)].flatMap(
      (message) => message ?? [],
    );
    expect(await sentFor(long, 360)).toEqual([
      'Be kind.',
      '[1 earlier message was left out to fit the context]',
      'ask a',
      'call call_b',
      'result call_b',
      'call call_c',
      'result call_c',
    ]);
    expect(await sentFor(long, 1)).toEqual([
      'Be kind.',
      '[2 earlier messages were left out to fit the context]',
      'ask a',
      'call call_c',
      'result call_c',
    ]);
  });

  it('is trimmed anew at each step of a loop', async () => {
    const { tools } = buildTools();
    const { model, server } = await scripted(calls(call('n1', 'look', { key: filler })), says('Yes.'));
    await generate({ model, tools, messages: turn('a'), prompt: 'and now', contextBudget: 250 });
    const [first, second] = server.requests.map(({ messages }) => outline(messages));
    expect(first).toEqual([...wholeTurn('a'), 'and now']);
    expect(second).toEqual([
      '[3 earlier messages were left out to fit the context]',
      'and now',
      'call n1',
      'result n1',
    ]);
  });
});
