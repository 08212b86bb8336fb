import { expect, test } from 'vitest';
import { APPROVERS_GROUP, DEFAULT_CHANNELS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { CAST, type Story, startStory } from './support.ts';

const ROBOT = 'U0ROBOT007';
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const refunds = { replies: [{ calls: [refund] }, { text: 'Refunded.' }] };

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { ${policy}, notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

test('neither guests, bots, people of other workspaces nor the requester can sign, even when they are named', async () => {
  const { requester, guest, outsider, alice } = CAST;
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(`approvers: [${requester}, ${guest}, ${outsider}, ${ROBOT}, ${alice}]`),
    slack: {
      users: [...DEFAULT_USERS, { id: ROBOT, name: 'robot', is_bot: true }],
      channels: DEFAULT_CHANNELS.map((channel) => ({
        ...channel,
        members: [...new Set([...channel.members, guest, outsider, ROBOT, alice])],
      })),
    },
  });
  const thread = story.ask('refund order A-1001');
  for (const [who, words] of [
    [requester, /someone else has to approve/],
    [guest, /Guests can't/],
    [outsider, /Only members of this workspace/],
    [ROBOT, /Bots can't/],
  ] as const) {
    await thread.click(who, /Needs 1 approval/, 'approve');
    await story.noticeFor(who, words);
  }
  expect(await refunded(story)).toBe(0);
  await thread.click(alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
});

test('whoever the policy does not name can neither approve, reject nor edit, and is told so where they typed', async () => {
  const story = await startStory({
    replies: [{ calls: [refund] }],
    timing: { ackWithinMs: { click: 30_000, submission: 30_000 } },
    manifest: manifestWith(`approvers: [${CAST.alice}]`),
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Needs 1 approval/, 'approve');
  await story.noticeFor(CAST.bruno, /can approve this/);
  const bruno = story.workspace.as(CAST.bruno);
  await thread.click(CAST.bruno, /Needs 1 approval/, 'reject');
  const reject = await story.modalFor(CAST.bruno, /reject/);
  expect(await bruno.submit(reject.id, { reason: 'I do not like it.' })).toMatchObject({
    errors: { reason: expect.stringMatching(/^Only \w+ can approve this\.$/) },
  });
  await bruno.close(reject.id);
  await thread.click(CAST.bruno, /Needs 1 approval/, 'edit');
  const edit = await story.modalFor(CAST.bruno, /Your changes replace/);
  expect(await bruno.submit(edit.id, { 'field-1': '1' })).toMatchObject({
    errors: { 'field-0': expect.stringMatching(/^Only \w+ can approve this\.$/) },
  });
  await thread.shows(/Needs 1 approval/);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.bruno))).toEqual([]);
});

test('a member of a user group signs for the group', async () => {
  const story = await startStory({ ...refunds, manifest: manifestWith(`approvers: [${APPROVERS_GROUP}]`) });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.admin, /Needs 1 approval/, 'approve');
  await story.noticeFor(CAST.admin, /can approve this/);
  await thread.click(CAST.bruno, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('a group that cannot be looked up lets nobody sign, says so, and can be tried again', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(`approvers: [${CAST.alice}, ${APPROVERS_GROUP}]`),
  });
  story.workspace.fail('usergroups.users.list', { kind: 'refuse', error: 'fatal_error' }, { calls: 2 });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Needs 1 approval/, 'approve');
  await story.noticeFor(CAST.bruno, /can't check right now/);
  expect(await refunded(story)).toBe(0);
  await thread.click(CAST.bruno, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
});

test('a signature of somebody who is deactivated before the action starts does not count, and it is asked anew', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(`approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}], quorum: 2`),
  });
  const thread = story.ask('refund order A-1001');
  const first = await thread.shows(/Needs 2 approvals/);
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  const alice = story.workspace.state.users.get(CAST.alice);
  if (alice !== undefined) alice.deleted = true;
  await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');

  const second = await thread.shows(/Needs 2 approvals/);
  expect(second.ts).not.toBe(first.ts);
  expect(JSON.stringify(first.blocks)).toContain(
    'Too few of the people who approved are still approvers, so it needs a new approval.',
  );
  expect(await refunded(story)).toBe(0);
  await thread.click(CAST.bruno, /Needs 2 approvals/, 'approve');
  await thread.click(CAST.admin, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test.each([
  { who: 'the requester alone', policy: `approvers: [${CAST.requester}]` },
  { who: 'a guest', policy: `approvers: [${CAST.guest}]` },
  { who: 'fewer people than must sign', policy: `approvers: [${CAST.alice}, ${CAST.requester}], quorum: 2` },
  { who: 'a group that does not exist', policy: 'approvers: [S0NOBODY99]' },
])(
  'what only $who could sign is refused at once, and the model and the requester are told',
  async ({ policy }) => {
    const story = await startStory({
      replies: [{ calls: [refund] }, { text: 'That cannot be signed.' }],
      manifest: manifestWith(policy),
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/That cannot be signed\./);
    const notice = await thread.shows(/Refund order did not run\. Nobody can approve this/);
    expect(notice.user).toBe(story.workspace.state.app.botUserId);
    expect(story.toldOfCalls()).toEqual([expect.stringMatching(/failed.*Nobody can approve this/)]);
    expect(await refunded(story)).toBe(0);
  },
);

test('while Slack cannot tell who is in a group people are asked all the same, and sign once it can', async () => {
  const story = await startStory({ ...refunds, manifest: manifestWith(`approvers: [${APPROVERS_GROUP}]`) });
  story.workspace.fail('usergroups.users.list', { kind: 'status', status: 503 });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('a requester signs their own action where the policy lets them', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(`approvers: [${CAST.requester}], self_approval: true`),
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.requester, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
});
