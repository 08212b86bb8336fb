import { expect, test } from 'vitest';
import { CAST, MANIFEST, startStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'damaged' } }],
});
const withLimits = (limits: string, manifest = MANIFEST) =>
  `${manifest}limits:\n  refund_order: ${limits}\n`.replace(
    '  two: {',
    `  boss: { approvers: [${admin}], notify: { direct_messages: false } }
  chief: { approvers: [${bruno}], notify: { direct_messages: false } }
  two: {`,
  );
const over = (policy: string) =>
  `{ sum: input.amount, per: requester, window: 1d, max: 9000, policy: ${policy} }`;

test('over a limit its policy is asked beside that of the rule, however strict', async () => {
  const story = await startStory({
    manifest: withLimits(
      over('boss'),
      MANIFEST.replace('policy: default, when:', 'because: "refunds over $100", policy: default, when:'),
    ),
    replies: [refund(20_000), { text: 'Done.' }],
  });
  const thread = story.ask('refund 200');
  // The reason of the rule stays beside it.
  await thread.shows(/refunds over \$100; it exceeds a limit/);
  await thread.click(admin, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  await thread.click(alice, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 20_000 });
});

test('over a limit a policy of the rule that is as strict is asked alone, and what it approves runs', async () => {
  const stricter = MANIFEST.replace('policy: default, when:', 'policy: two, when:');
  const story = await startStory({
    manifest: withLimits(over('default'), stricter),
    replies: [refund(20_000), { text: 'Done.' }],
  });
  const thread = story.ask('refund 200');
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 20_000 });
});

test('every refund needs two approvals: with a grant, one over a limit whose policy asks for one still needs two', async () => {
  const granted = MANIFEST.replace(
    '  two: {',
    '  two: { grants: { for: 2h, uses: 5, when: "input.amount > 0" },',
  ).replace(
    'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
    'approval: { policy: two }',
  );
  const story = await startStory({
    manifest: withLimits(over('default'), granted),
    replies: [refund(8_000), { text: 'One.' }, refund(2_000), { text: 'Two.' }],
  });
  const thread = story.ask('refund 80');
  for (const who of [alice, bruno]) {
    const card = await thread.shows(who === alice ? /Needs 2 approvals/ : /1 of 2 approvals/);
    const person = story.workspace.as(who);
    await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
    await person.submit((await story.modalFor(who, /without asking anyone/)).id, {});
  }
  await thread.shows(/One\./);
  story.ask('refund 20', { threadTs: thread.ts });
  await thread.click(alice, /Approval needed[\s\S]*Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 8_000 });
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Two\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 10_000 });
});

test.each<[string, string, readonly string[]]>([
  ['boss', 'chief', [admin, bruno]],
  ['default', 'two', [alice, bruno]],
])(
  'over limits with the policies %s and %s both are asked, or the one that is as strict as both',
  async (one, other, approvers) => {
    const story = await startStory({
      manifest: withLimits(`${over(one)}\n  more: ${over(other).replace('{ ', '{ tools: refund_order, ')}`),
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
  await second.shows(/Read order did not run\. It would exceed the limit of 1 call/);
  await second.shows(/Two\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/denied.*the limit of 1 call/);
  await story.ask('read it', { as: alice }).shows(/Three\./);
});
