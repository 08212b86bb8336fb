import { expect, test } from 'vitest';
import { APPROVERS_GROUP } from '../../playground/slack/default-cast.ts';
import { CAST, startStory } from './support.ts';

const { requester, alice, bruno, admin } = CAST;
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 1_000 } };

const manifestWith = (tool: string, agent = 'instructions: Help.') => `
agent: { ${agent} }
policies:
  default: { approvers: [${admin}, ${bruno}], notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, ${tool} }
`;
const MEMBERS_RUN = `approval: [{ require: never, when: "'${APPROVERS_GROUP}' in requester.groups" }, { policy: default }]`;

test('a rule knows the user groups of the requester', async () => {
  const story = await startStory({
    manifest: manifestWith(MEMBERS_RUN),
    replies: [{ calls: [refund] }, { text: 'Refunded at once.' }, { calls: [refund] }],
  });
  await story.ask('refund order A-1001', { as: alice }).shows(/Refunded at once\./);
  await story.ask('refund order A-1001', { as: requester }).shows(/Approval needed/);
});

test('everyone who asked must be in the group', async () => {
  const story = await startStory({
    manifest: manifestWith(MEMBERS_RUN),
    replies: [{ text: 'How much?' }, { calls: [refund] }],
  });
  const thread = story.ask('refund order A-1001', { as: requester });
  await thread.shows(/How much\?/);
  story.ask('10 dollars', { as: alice, threadTs: thread.ts });
  await thread.shows(/Approval needed/);
});

test('groups that Slack does not tell let nothing run: a rule asks, and a tool for members is refused', async () => {
  const story = await startStory({
    manifest: manifestWith(MEMBERS_RUN),
    replies: [{ calls: [refund] }],
  });
  story.workspace.fail('usergroups.list', { kind: 'refuse', error: 'fatal_error' }, { calls: 99 });
  await story.ask('refund order A-1001', { as: alice }).shows(/Approval needed/);

  const other = await startStory({
    manifest: manifestWith(`allow: { groups: [${APPROVERS_GROUP}] }, approval: never`),
    replies: [{ calls: [refund] }, { text: 'I may not.' }],
  });
  other.workspace.fail('usergroups.list', { kind: 'refuse', error: 'fatal_error' }, { calls: 99 });
  await other.ask('refund order A-1001', { as: alice }).shows(/I may not\./);
  expect(await other.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('a tool for the members of a group is offered to them and to nobody else', async () => {
  const story = await startStory({
    manifest: manifestWith(`allow: { groups: [${APPROVERS_GROUP}] }`),
    replies: [{ text: 'Nothing to do.' }, { calls: [refund] }, { text: 'It is done.' }],
  });
  await story.ask('hello', { as: requester }).shows(/Nothing to do\./);
  const thread = story.ask('refund order A-1001', { as: alice });
  await thread.click(admin, /Approval needed/, 'approve');
  await thread.shows(/It is done\./);
  const offered = story.model.requests.map(({ tools = [] }) =>
    JSON.stringify(tools).includes('refund_order'),
  );
  expect(offered).toEqual([false, true, true]);
});

test('a bot for the members of a group tells the others that they cannot ask', async () => {
  const story = await startStory({
    manifest: manifestWith('approval: never', `askers: { members: false, groups: [${APPROVERS_GROUP}] }`),
    replies: [{ text: 'Welcome.' }],
  });
  await story.ask('hello', { as: requester }).shows(/can't give me tasks/);
  await story.ask('hello', { as: alice }).shows(/Welcome\./);
});
