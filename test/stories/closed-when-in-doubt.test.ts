import { expect, test } from 'vitest';
import { CAST, MANIFEST, SHIPPED_APP, type Story, startStory, type Thread } from './support.ts';

const { alice, bruno } = CAST;
const refund = (amount: number, reason = 'damaged') => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason } }],
});
const withRules = (rules: string, manifest = MANIFEST) =>
  manifest.replace(
    'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
    `approval: ${rules}`,
  );
const refunded = async ({ ledger }: Story) => (await ledger.order('A-1001'))?.refunded;

/** Approves the card of a thread and allows the same again. */
async function allow(story: Story, thread: Thread, who: string, card = /Approval needed/): Promise<void> {
  const { ts } = await thread.shows(card);
  const person = story.workspace.as(who);
  await person.choose({ channel: thread.channel, ts }, 'more', 'approve-grant');
  await person.submit((await story.modalFor(who, /without asking anyone/)).id, {});
}

test('a call that leaves out what a rule asks about is not approved by fewer: the later rule counts', async () => {
  const story = await startStory({
    manifest: withRules('[{ require: never, when: "input.environment == \'staging\'" }, { policy: two }]'),
    replies: [refund(500), { text: 'Done.' }],
  });
  const thread = story.ask('refund 5');
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await refunded(story)).toBe(500);
});

test('a call between two conditions is asked about', async () => {
  const story = await startStory({
    manifest: withRules(
      '[{ policy: two, when: "input.amount > 10000" }, { require: never, when: "input.amount < 10000" }]',
    ),
    replies: [refund(10_000), { text: 'Done.' }],
  });
  const thread = story.ask('refund 100');
  await thread.shows(/no rule lets this run without approval/);
  expect(await refunded(story)).toBe(0);
  await thread.click(alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Done\./);
});

test('a grant that the owner of one thing gave is not for what somebody else owns', async () => {
  const domain = 'corner-shop.example';
  const story = await startStory({
    manifest: withRules(
      '{ policy: default }',
      MANIFEST.replace(
        /^ {2}default: .*$/m,
        '  default: { approvers: { from: input.reason }, notify: { direct_messages: false }, grants: { for: 2h, uses: 5, when: "input.amount <= 500" } }',
      ),
    ),
    slack: { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } },
    replies: [
      refund(400, `alice@${domain}`),
      { text: 'One.' },
      refund(300, `alice@${domain}`),
      { text: 'Two.' },
      refund(200, `bruno@${domain}`),
      { text: 'Three.' },
    ],
  });
  const thread = story.ask('refund 4');
  await allow(story, thread, alice);
  await thread.shows(/One\./);
  story.ask('refund 3', { threadTs: thread.ts });
  await thread.shows(/pre-approved by .*\(1 of 5\)/);
  await thread.shows(/Two\./);
  story.ask('refund 2', { threadTs: thread.ts });
  await thread.click(bruno, /Needs 1 approval[\s\S]*U0BRUNO003/, 'approve');
  await thread.shows(/Three\./);
  expect(await refunded(story)).toBe(900);
});
