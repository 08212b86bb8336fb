import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import { MESSAGE_VERSION, type Message } from '../../../src/agent/messages.ts';
import { settle } from '../../../src/agent/settle.ts';
import { repliesTo } from '../../../src/engine/asks/replies-to.ts';
import { type Reason, writeReason } from '../../../src/engine/reasons.ts';
import { peopleOf } from '../../../src/engine/task-people.ts';
import { compileApprovalRules } from '../../../src/policy/rules.ts';
import { askQuestion } from '../../../src/tools/built-ins.ts';
import { gate } from '../../../src/tools/gate.ts';
import { pauseMetadata } from '../../support/pause-metadata.ts';
import { takesAnything } from '../../tools/gate/support.ts';

const outside = {
  describeRefusal: ({ code }: Reason) => code,
  directory: { isPerson: (id: string) => id.startsWith('U') },
};
const toolRequest = { name: 'ask_question', ref: 'c1', input: { question: 'Which?', choices: ['Red'] } };
const messages: Message[] = [
  { v: MESSAGE_VERSION, role: 'model', content: [{ toolRequest, idempotencyKey: 'key' }] },
  {
    v: MESSAGE_VERSION,
    role: 'tool',
    content: [
      {
        interrupt: {
          id: 'pause',
          toolRequest,
          metadata: pauseMetadata(toolRequest.name, toolRequest.input) ?? {},
        },
      },
    ],
  },
];
const answered = (payload: string) =>
  repliesTo(outside, [{ requestId: 'C1:1.2~pause', state: 'answered', by: 'U1', payload }], messages, [
    askQuestion,
  ]);

test('an answer becomes the output of the call', () => {
  expect(answered('"Red"').respond).toMatchObject([{ toolResponse: { ref: 'c1', output: 'Red' } }]);
});

test('an answer that does not fit ends the call as failed, and does not hold the thread up for ever', () => {
  const { respond, close } = answered('{"not":"an answer"}');
  expect(respond).toEqual([]);
  expect(close).toMatchObject([{ metadata: { interruptId: 'pause', status: 'failed' } }]);
});

test('an edit that a rule denies leaves its editor on record with the result, as one whose words are in the thread', async () => {
  const pay = gate(takesAnything('pay').tool, compileApprovalRules([{ require: 'deny' }]));
  const request = { name: 'pay', ref: 'c1', input: { cents: 5 } };
  const paused: Message[] = [
    { v: MESSAGE_VERSION, role: 'model', content: [{ toolRequest: request, idempotencyKey: 'key' }] },
    { v: MESSAGE_VERSION, role: 'tool', content: [{ interrupt: { id: 'pause', toolRequest: request } }] },
  ];
  const payload = writeReason({ code: 'edited', input: { cents: 6 }, by: 'U1' });
  const settled = [{ requestId: 'C1:1.2~pause', state: 'superseded', by: '', payload }] as const;
  const resume = repliesTo(outside, settled, paused, [pay]);
  const { messages: told } = await settle({ messages: paused, tools: [pay], resume, context: {} });
  expect(peopleOf(told, { find: () => undefined }).requesters).toEqual(['U1']);
});

test('an edit that a reloaded schema no longer takes ends the call as failed, and throws nothing', () => {
  const refund = defineTool(
    { name: 'refund', description: 'Refunds.', inputSchema: z.object({ cents: z.number() }) },
    () => 'refunded',
  );
  const request = { name: 'refund', ref: 'c1', input: { cents: 5 } };
  const paused: Message[] = [
    {
      v: MESSAGE_VERSION,
      role: 'model',
      content: [{ toolRequest: request, idempotencyKey: 'key' }],
    },
    { v: MESSAGE_VERSION, role: 'tool', content: [{ interrupt: { id: 'pause', toolRequest: request } }] },
  ];
  const payload = writeReason({ code: 'edited', input: { amount: 'five' }, by: 'U1' });
  const settled = [{ requestId: 'C1:1.2~pause', state: 'superseded', by: '', payload }] as const;
  const { restart, close } = repliesTo(outside, settled, paused, [refund]);
  expect(restart).toEqual([]);
  expect(close).toMatchObject([{ metadata: { interruptId: 'pause', status: 'failed' } }]);
});
