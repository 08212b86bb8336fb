import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CompletionReply } from '../../playground/model/model-reply.ts';
import { APPROVERS_GROUP, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop } from './workshop.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
  workshop: { module: ./test/stories/fixtures/workshop-tools.ts, approval: { policy: default } }
`;
const groups = [
  {
    id: APPROVERS_GROUP,
    handle: 'approvers',
    name: 'Approvers',
    users: [CAST.alice, CAST.bruno, CAST.admin],
  },
];

const scenes = [
  {
    who: 'one approver, without direct messages',
    policy: `approvers: [${CAST.alice}], notify: { direct_messages: false }`,
    most: 7,
  },
  {
    who: 'one approver who is written to',
    policy: `approvers: [${CAST.alice}], notify: { direct_messages: true }`,
    most: 9,
  },
  {
    who: 'a group of three who are written to',
    policy: `approvers: [${APPROVERS_GROUP}], notify: { direct_messages: true }`,
    most: 13,
  },
  // What takes long is said: Slack's Stop and the line under the thread take up to three calls more.
].flatMap(({ most, ...scene }) =>
  [0, 800, 3_000].map((modelMs) => ({ ...scene, modelMs, most: most + (modelMs < 1_000 ? 0 : 3) })),
);

test.each(scenes)(
  'an approved action with $who and a model of $modelMs ms takes at most $most calls of Slack',
  async ({ policy, most, modelMs }) => {
    const slowly = (reply: CompletionReply): CompletionReply => ({
      ...reply,
      before: (chunk) => (chunk === 0 ? sleep(modelMs) : undefined),
    });
    const story = await startStory({
      manifest: manifestWith(policy),
      slack: { userGroups: groups },
      replies: [
        { calls: [refund] },
        { text: 'All refunded.' },
        slowly({ calls: [refund] }),
        slowly({ text: 'All refunded.' }),
      ],
    });
    const approved = async () => {
      const thread = story.ask('refund order A-1001');
      await thread.shows(/Approval needed/);
      // Nobody is sent a copy of a request that is decided already.
      await story.deliveredAll();
      await thread.click(CAST.alice, /Approval needed/, 'approve');
      await thread.shows(/All refunded\./);
      await thread.shows(/Done: /);
      await story.deliveredAll();
    };
    // The first action looks up who everybody is.
    await approved();
    story.workspace.calls.length = 0;
    await approved();
    const methods = story.workspace.calls.map(({ method }) => method).sort();
    expect(methods.length, methods.join(', ')).toBeLessThanOrEqual(most);
  },
);

test('a long action for 15 approvers shows its progress in the thread only, and never reaches a rate limit', async () => {
  const workshop = await openWorkshop();
  const people = Array.from({ length: 15 }, (_, index) => ({
    id: `U0CROWD${String(index).padStart(3, '0')}`,
    name: `crowd${index}`,
  }));
  const approvers = [CAST.alice, ...people.slice(1).map(({ id }) => id)];
  const story = await startStory({
    manifest: manifestWith(`approvers: [${approvers.join(', ')}], notify: { direct_messages: true }`),
    slack: { users: [...DEFAULT_USERS, ...people], rateLimits: 'slack' },
    replies: [{ calls: [workshop.call('polish_part')] }, { text: 'Polished.' }],
  });
  const thread = story.ask('polish the part');
  await thread.shows(/Approval needed/);
  await story.deliveredAll();
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await workshop.has(1, 'effects');
  const endedAt = Date.now();
  await thread.shows(/Done: Polish part/);
  await thread.shows(/Polished\./);
  const { calls } = story.workspace;
  const updates = calls.filter(({ method }) => method === 'chat.update');
  const card = updates.findLast(({ arguments: given }) => given.channel === thread.channel);
  expect((card?.at ?? 0) - endedAt).toBeLessThan(4_000);
  await story.deliveredAll();
  expect(calls.filter(({ status }) => status === 429)).toEqual([]);
  // Running and settled for each of the 15 cards and the one in the thread, and progress in the thread.
  expect(calls.filter(({ method }) => method === 'chat.update').length).toBeLessThanOrEqual(2 * 16 + 2);
});
