import { describe, expect, test } from 'vitest';
import { DEFAULT_USER_GROUPS } from '../../playground/slack/default-cast.ts';
import { CAST, SHIPPED_APP, type Story, startStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const refund = (reason = '') => ({
  name: 'refund_order',
  arguments: { orderId: 'A-1001', amount: 12_000, reason },
});
const refunds = { replies: [{ calls: [refund()] }, { text: 'Refunded.' }] };

const FINANCE = 'S0FINANCE1';
const SECURITY = 'S0SECURE01';
const groupsOf = (finance: readonly string[], security: readonly string[]) => ({
  userGroups: [
    ...DEFAULT_USER_GROUPS,
    { id: FINANCE, handle: 'finance', name: 'Finance', users: finance },
    { id: SECURITY, handle: 'security', name: 'Security', users: security },
  ],
});
const BOTH = `approvers: { all: [{ any: [${FINANCE}] }, { any: [${SECURITY}] }] }`;

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { ${policy}, notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

test('each group has to approve, two of one group are not enough, and the card says which group is missing', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(BOTH),
    slack: groupsOf([alice, bruno], [admin]),
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(
    alice,
    /Needs 2 approvals[\s\S]*Still needed: <!subteam\^\w+>, and <!subteam\^\w+>/,
    'approve',
  );
  await thread.click(bruno, /1 of 2 approvals[\s\S]*Still needed: <!subteam\^\w+>\W/, 'approve');
  await thread.shows(/1 of 2 approvals[\s\S]*Approved by[\s\S]*U0BRUNO003/);
  expect(await refunded(story)).toBe(0);
  await thread.click(admin, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('somebody who is in both groups counts for one of them only, whichever the others leave free', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(BOTH),
    slack: groupsOf([alice, bruno], [alice]),
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
});

test('groups that too few people are in are refused at once', async () => {
  const story = await startStory({
    replies: [{ calls: [refund()] }, { text: 'It cannot be approved.' }],
    manifest: manifestWith(BOTH),
    slack: groupsOf([alice], [alice]),
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(
    /did not run\. Nobody can approve this: policy "default" needs 2 approvals, and only 1 can approve\./,
  );
});

test('an excluded person, and a member of an excluded group, cannot approve', async () => {
  const story = await startStory({
    ...refunds,
    manifest: manifestWith(`approvers: { any: [S0APPROVE1, ${admin}], not: [${alice}, ${FINANCE}] }`),
    slack: groupsOf([bruno], []),
  });
  const thread = story.ask('refund order A-1001');
  for (const who of [alice, bruno]) {
    await thread.click(who, /Needs 1 approval/, 'approve');
    await story.noticeFor(who, /can approve this/);
  }
  expect(await refunded(story)).toBe(0);
  await thread.click(admin, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
});

describe('approvers from the call', () => {
  const slack = { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } };
  const manifest = manifestWith('approvers: { from: input.reason }');
  const domain = 'corner-shop.example';

  test('the person whose address the call names has to approve', async () => {
    const story = await startStory({
      replies: [{ calls: [refund(`bruno@${domain}`)] }, { text: 'Refunded.' }],
      manifest,
      slack,
    });
    const thread = story.ask('refund order A-1001');
    await thread.click(alice, /Needs 1 approval[\s\S]*U0BRUNO003/, 'approve');
    await story.noticeFor(alice, /can approve this/);
    await thread.click(bruno, /Needs 1 approval/, 'approve');
    await thread.shows(/Refunded\./);
  });

  test('nobody can approve a call whose address belongs to nobody, is none, or is the requester', async () => {
    const addresses = [`nobody@${domain}`, 'bruno', `remi@${domain}`];
    const story = await startStory({
      replies: [{ calls: addresses.map(refund) }, { text: 'It cannot be approved.' }],
      manifest,
      slack,
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/nobody in Slack has the address nobody@corner-shop\.example/);
    await thread.shows(/does not say whose approval it needs/);
    await thread.shows(/needs 1 approval, and nobody can approve/);
    expect(await refunded(story)).toBe(0);
  });

  test('without the scope, or while Slack cannot tell, nobody can approve', async () => {
    const story = await startStory({
      replies: [{ calls: [refund(`bruno@${domain}`)] }, { text: 'It cannot be approved.' }],
      manifest,
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/can't be looked up in Slack right now/);
  });
});

describe('an approver who is not the author', () => {
  const slack = { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } };
  const manifest = manifestWith(
    `approvers: { any: [${alice}, ${bruno}], not: { from: input.reason } }, grants: { for: 1h, uses: 5, when: "input.amount > 0" }`,
  );

  test.each([
    ['member ID', alice],
    ['mention', `<@${alice}>`],
    ['address', 'Alice@corner-shop.example'],
  ])('the person whom the call names by %s cannot approve, and somebody else can', async (_, author) => {
    const story = await startStory({
      replies: [{ calls: [refund(author)] }, { text: 'Refunded.' }],
      manifest,
      slack,
    });
    const thread = story.ask('refund order A-1001');
    await thread.click(alice, /Needs 1 approval/, 'approve');
    await story.noticeFor(alice, new RegExp(`Only <@${bruno}> can approve this`));
    expect(await refunded(story)).toBe(0);
    await thread.click(bruno, /Needs 1 approval/, 'approve');
    await thread.shows(/Refunded\./);
    expect(await refunded(story)).toBe(12_000);
  });

  test('nobody can approve a call whose author is not said, or is nobody', async () => {
    const authors = ['', 'the intern', 'nobody@corner-shop.example', 'U0NOBODY99'];
    const story = await startStory({
      replies: [{ calls: authors.map(refund) }, { text: 'It cannot be approved.' }],
      manifest,
      slack,
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/Nobody can approve this: it does not say who may not approve it\./);
    await thread.shows(/the intern, who may not approve it, is nobody in Slack\./);
    await thread.shows(/nobody@corner-shop\.example, who may not approve it, is nobody in Slack\./);
    await thread.shows(/U0NOBODY99, who may not approve it, is nobody in Slack\./);
    expect(await refunded(story)).toBe(0);
  });

  test('while Slack cannot tell who the author is, nobody can approve', async () => {
    const story = await startStory({
      replies: [{ calls: [refund('alice@corner-shop.example')] }, { text: 'It cannot be approved.' }],
      manifest,
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/alice@corner-shop\.example, who may not approve it, can't be looked up/);
  });

  test('what somebody has pre-approved is asked where they are the author', async () => {
    const story = await startStory({
      replies: [
        { calls: [refund(bruno)] },
        { text: 'One.' },
        { calls: [{ ...refund(bruno), arguments: { orderId: 'A-1001', amount: 100, reason: bruno } }] },
        { text: 'Two.' },
        { calls: [{ ...refund(alice), arguments: { orderId: 'A-1001', amount: 200, reason: alice } }] },
        { text: 'Three.' },
      ],
      manifest,
      slack,
    });
    const thread = story.ask('refund order A-1001');
    const card = await thread.shows(/Needs 1 approval/);
    const person = story.workspace.as(alice);
    await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
    await person.submit((await story.modalFor(alice, /without asking anyone/)).id, {});
    await thread.shows(/One\./);
    story.ask('refund more', { threadTs: thread.ts });
    await thread.shows(/Two\./);
    expect(await refunded(story)).toBe(12_100);
    story.ask('refund mine', { threadTs: thread.ts });
    await thread.click(bruno, /Approval needed: Refund order A-1001: amount 200/, 'approve');
    await thread.shows(/Three\./);
    expect(await refunded(story)).toBe(12_300);
  });
});

describe('an approver whom a tool finds', () => {
  const slack = { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } };
  const manifest = `${manifestWith(
    'approvers: { from: { tool: get_manager, input: { email: "{{requester.email}}" }, email: "{{output.manager.email}}" } }',
  )}  get_manager: { module: ./test/stories/fixtures/manager-tool.ts, approval: never }
`;

  test('the manager of the requester has to approve', async () => {
    const story = await startStory({ ...refunds, manifest, slack });
    const thread = story.ask('refund order A-1001');
    await thread.click(bruno, /Needs 1 approval[\s\S]*U0ALICE002/, 'approve');
    await story.noticeFor(bruno, /can approve this/);
    await thread.click(alice, /Needs 1 approval/, 'approve');
    await thread.shows(/Refunded\./);
  });

  test('nobody can approve if the tool fails, or could write', async () => {
    const failing = await startStory({
      replies: [{ calls: [refund()] }, { text: 'I cannot.' }],
      manifest,
      slack,
    });
    await failing
      .ask('refund order A-1001', { as: alice })
      .shows(/Nobody can approve this: the approver can't be found right now\./);

    const writing = await startStory({
      replies: [{ calls: [refund()] }, { text: 'I cannot.' }],
      manifest: manifest.replace('approval: never }', 'effect: once, approval: never }'),
      slack,
    });
    await writing.ask('refund order A-1001').shows(/Nobody can approve this: the approver can't be found/);
    expect(await refunded(writing)).toBe(0);
  });
});
