import { expect, test } from 'vitest';
import { CAST, MANIFEST, startStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'damaged' } }],
});
const withLimits = (limits: string, manifest = MANIFEST) =>
  `${manifest}limits:\n  refund_order: ${limits}\n`.replace(
    '  two: {',
    `  boss: { approvers: [${admin}], direct_messages: false }
  chief: { approvers: [${bruno}], direct_messages: false }
  two: {`,
  );
const over = (policy: string) =>
  `{ sum: input.amount, per: requester, window: 1d, max: 9000, then: policy ${policy} }`;

test('over a limit its policy is asked in place of one that is just as strict', async () => {
  const story = await startStory({
    manifest: withLimits(over('boss')),
    replies: [refund(20_000), { text: 'Done.' }],
  });
  const thread = story.ask('refund 200');
  await thread.shows(/Requires approval because a limit is reached/);
  await thread.click(admin, /Approval needed/, 'approve');
  await thread.shows(/Done\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 20_000 });
});

test('over a limit a stricter policy of the rule is asked, and what it approves runs', async () => {
  const stricter = MANIFEST.replace('policy: default, when:', 'policy: two, when:');
  const story = await startStory({
    manifest: withLimits(over('boss'), stricter),
    replies: [refund(20_000), { text: 'Done.' }],
  });
  const thread = story.ask('refund 200');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 20_000 });
});

test.each<[string, string, readonly string[]]>([
  ['boss', 'chief', [admin]],
  ['boss', 'two', [alice, bruno]],
])(
  'over limits with the policies %s and %s only the strictest is asked, or the first',
  async (one, other, approvers) => {
    const story = await startStory({
      manifest: withLimits(`[${over(one)}, ${over(other)}]`),
      replies: [refund(9_500), { text: 'Done.' }],
    });
    const thread = story.ask('refund 95');
    for (const [index, approver] of approvers.entries())
      await thread.click(approver, index === 0 ? /Approval needed/ : /1 of 2 approvals/, 'approve');
    await thread.shows(/Done\./);
    expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 9_500 });
  },
);

test('calls of a tool without effects count too', async () => {
  const read = { calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }] };
  const story = await startStory({
    manifest: `${MANIFEST}limits:\n  read_order: { per: requester, window: 1d, max: 1 }\n`,
    replies: [read, { text: 'One.' }, read, { text: 'Two.' }, read, { text: 'Three.' }],
  });
  await story.ask('read it').shows(/One\./);
  const second = story.ask('read it again');
  await second.shows(/Read order did not run\. The limit of 1 call/);
  await second.shows(/Two\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/denied.*The limit of 1 call/);
  await story.ask('read it', { as: alice }).shows(/Three\./);
});
