import { type Message, userMessage } from '../../src/index.ts';

/** Builds a thread of this many messages: a question, a call, its result, an answer, and so on. */
export function buildHistory(length: number): Message[] {
  const said = 'Please look at the order again; the customer says that a part of it has not arrived yet.';
  const exchange = (turn: number): Message[] => [
    userMessage(`${said} (${turn})`),
    {
      v: 1,
      role: 'model',
      content: [
        {
          toolRequest: {
            name: 'lookUpOrder0',
            ref: `call_${turn}`,
            input: { order: `A-${turn}`, fields: ['items', 'status'] },
          },
          idempotencyKey: `key-${turn}`,
        },
      ],
    },
    {
      v: 1,
      role: 'tool',
      content: [
        {
          toolResponse: { name: 'lookUpOrder0', ref: `call_${turn}`, output: `Shipped: ${said}` },
          status: 'ok',
        },
      ],
    },
    { v: 1, role: 'model', content: [{ text: `It is under way. ${said}` }] },
  ];
  const exchanges = Math.floor((length - 1) / 4);
  const rest = length - exchanges * 4;
  return [
    ...Array.from({ length: exchanges }, (_, turn) => exchange(turn)).flat(),
    ...Array.from({ length: rest }, () => userMessage(said)),
  ];
}
