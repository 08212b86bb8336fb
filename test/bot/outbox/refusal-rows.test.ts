import { expect, test } from 'vitest';
import { refusalRows } from '../../../src/bot/outbox/reply-rows.ts';

const turn = { threadId: 'C1:1.2', token: '7', messages: [], inbox: [], settled: [] };
const refused = (name: string, interruptId: string, reason: string) => ({
  toolRequest: { name, ref: `call-${interruptId}` },
  metadata: { interruptId, status: 'not-asked', reason },
});

test('many calls that were refused for one reason are told once, and another reason by itself', () => {
  const rows = refusalRows(
    turn,
    [
      refused('refund_order', 'p1', 'Too many wait.'),
      refused('delete_customer', 'p2', 'Nobody can approve this.'),
      refused('refund_order', 'p3', 'Too many wait.'),
      refused('read_order', 'p4', 'Too many wait.'),
    ],
    'U1',
  );
  expect(rows).toMatchObject([
    {
      id: 'C1:1.2/7/refused-p1',
      body: { channel: 'C1', text: 'Refund order (2 calls), Read order did not run. Too many wait.' },
    },
    { id: 'C1:1.2/7/refused-p2', body: { text: 'Delete customer did not run. Nobody can approve this.' } },
  ]);
});
