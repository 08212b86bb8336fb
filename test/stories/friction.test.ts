import { expect, test } from 'vitest';
import { elementsOf } from '../../playground/slack/state/normalize-blocks.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, startStory } from './support.ts';

const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default:
    approvers: [${CAST.alice}]
    notify: { direct_messages: false }
    risk: "input.amount > 11000 ? 'high' : 'low'"
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    done: "Refunded {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    target: "{{input.orderId}}"
`;
const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });

test('a call of high risk is approved by typing its target, one of low risk by one click, and the log has their titles', async () => {
  const story = await startStory({
    manifest,
    replies: [
      { text: 'Trust me.', calls: [refund(12_000)] },
      { text: 'Done once.', calls: [refund(500)] },
      { text: 'Done twice.' },
    ],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed: Refund \$120\.00 of order A-1001/);
  const blocks = JSON.stringify(card.blocks);
  expect(blocks).not.toContain('Trust me');
  expect(blocks).toContain('High risk');
  const approve = card.blocks.flatMap(elementsOf).find(({ action_id }) => action_id === 'approve-typed');
  expect(JSON.stringify(approve)).toContain('Review and approve…');

  const alice = story.workspace.as(CAST.alice);
  await thread.click(CAST.alice, /High risk/, 'approve-typed');
  const modal = await story.modalFor(CAST.alice, /Type A-1001 to approve/);
  expect(JSON.stringify(modal.blocks)).toContain(
    'Refund $120.00 of order A-1001? This is a high-risk action.',
  );
  expect(await alice.submit(modal.id, { target: 'A-1002' })).toMatchObject({
    errors: { target: "This doesn't match. Nothing was approved." },
  });
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  await alice.submit(modal.id, { target: ' a-1001 ' });
  await thread.shows(/Done: Refunded \$120\.00 of order A-1001/);

  const low = await thread.shows(/Approval needed: Refund \$5\.00 of order A-1001/);
  expect(JSON.stringify(low.blocks)).not.toContain('confirm');
  await thread.click(CAST.alice, /Refund \$5\.00/, 'approve');
  await thread.shows(/Done twice\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_500 });

  const asked: unknown[] = [];
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  for await (const { event, body } of store.exportAudit())
    if (event === 'asked') asked.push(JSON.parse(body));
  expect(asked).toMatchObject([
    { title: 'Refund $120.00 of order A-1001', target: 'A-1001', tool: 'refund_order' },
    { title: 'Refund $5.00 of order A-1001', target: 'A-1001' },
  ]);
});

test('the button of a dialog says which approval it is, and the last one what it lets run; the dialog shows what the card does', async () => {
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, risk: high, notify: { direct_messages: false } }
tools:
  delete_customer:
    module: ./examples/shop/tools/delete-customer.ts
    title: "Delete customer {{input.customer}}"
    target: "{{input.customer}}"
    approval: { policy: two }
`,
    replies: [
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo Arai' } }] },
      { text: 'They are gone.' },
    ],
  });
  const thread = story.ask('delete Tomo');
  const open = async (who: string, card: RegExp) => {
    await thread.click(who, card, 'approve-typed');
    return story.modalFor(who, /Type Tomo Arai to approve/);
  };
  const first = await open(CAST.alice, /needs 2 approvals/);
  expect(first.submit?.text).toBe('Approve (1 of 2)');
  const shown = JSON.stringify(first.blocks);
  expect(shown).toContain(`asked by <@${CAST.requester}>`);
  expect(shown).toMatch(/Before[\s\S]*A-1004[\s\S]*Once run, this can't be undone\./);
  await story.workspace.as(CAST.alice).submit(first.id, { target: 'Tomo Arai' });
  await thread.shows(/1 of 2 approvals/);
  expect(await story.ledger.order('A-1004')).toBeDefined();
  const last = await open(CAST.bruno, /1 of 2 approvals/);
  expect(last.submit?.text).toBe('Approve and delete');
  await story.workspace.as(CAST.bruno).submit(last.id, { target: 'Tomo Arai' });
  await thread.shows(/They are gone\./);
  expect(await story.ledger.order('A-1004')).toBeUndefined();
});
