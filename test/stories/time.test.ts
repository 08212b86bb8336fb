import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { APPROVERS_GROUP } from '../../playground/slack/default-cast.ts';
import { startBot } from '../../src/start-bot.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

test('what nobody decides in time expires: a late click is told so, the model hears expired and not denied, and it can be asked for again', async () => {
  const story = await startStory({
    manifest: manifest('expires: 4s, notify: { direct_messages: false }'),
    replies: [
      { calls: [refund] },
      { text: 'Too late.' },
      { calls: [refund] },
      { text: 'Refunded after all.' },
    ],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  await thread.shows(/Too late\./);
  await thread.shows(/expired [\s\S]* with no decision[\s\S]*Request again/);
  expect(story.toldOfCalls().at(-1)).toMatch(/expired/);
  expect(story.toldOfCalls().at(-1)).not.toMatch(/denied/);

  const target = { channel: thread.channel, ts: card.ts };
  await story.workspace.as(CAST.alice).click(target, 'approve', { force: true });
  await story.noticeFor(CAST.alice, /expired/);
  await story.workspace.as(CAST.bruno).click(target, 'ask-again');
  await story.noticeFor(CAST.bruno, /Only (a|the) requester/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });

  await story.workspace.as(CAST.requester).click(target, 'ask-again');
  const anew = await thread.shows(/Approval needed/);
  expect(anew.ts).not.toBe(card.ts);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: anew.ts }, 'approve');
  await thread.shows(/Refunded after all\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  await story.workspace.as(CAST.requester).click(target, 'ask-again');
  await story.noticeFor(CAST.requester, /already been requested again/);
});

test('who may not ask any more cannot have an expired action asked for again', async () => {
  const story = await startStory({
    manifest: manifest('expires: 1s'),
    replies: [{ calls: [refund] }, { text: 'Too late.' }],
    withoutBot: true,
  });
  const bot = await startBot(story.setup);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Too late\./);
  await bot.stop();
  Object.assign(story.workspace.state.users.get(CAST.requester) ?? {}, { is_restricted: true });
  // The first bot remembers for a while who the person was.
  await story.startOwnBot();
  await thread.click(CAST.requester, /Request again/, 'ask-again');
  await story.noticeFor(CAST.requester, /can't give me tasks/);
});

test('reminders name who has not signed, once a time for all processes; further people get the card by direct message and sign beside the first', async () => {
  const story = await startStory({
    manifest: manifest(`quorum: 2, notify: { remind: 1s }, escalate: { after: 3s, to: [${CAST.admin}] }`),
    replies: [{ calls: [refund] }, { text: 'Signed by both.' }],
    sweep: { everyMs: 50, overdueMs: 0 },
  });
  await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.admin))).toEqual([]);
  await thread.click(CAST.alice, /Approve/, 'approve');
  const reminder = new RegExp(`Reminder: Refund order[^"]* is waiting for <@${CAST.bruno}>`);
  const first = (await thread.shows(reminder)).ts;
  // The next one takes its place: one message, and people are notified again.
  const reminders = () => story.repliesIn(thread).filter(({ text }) => text.startsWith('Reminder'));
  await story.workspace.until(() => reminders().length === 1 && reminders()[0]?.ts !== first, {
    what: 'the next reminder alone',
  });

  await thread.shows(new RegExp(`Can now be decided by <@${CAST.admin}>`));
  const card = await thread.shows(/needs 1 more: |any of /);
  await story.workspace.until(() => JSON.stringify(card.blocks).includes(CAST.admin), {
    what: 'the new person on the first card',
  });
  await story.directly(CAST.admin).click(CAST.admin, /Approval needed[\s\S]*Open the thread/, 'approve');
  await thread.shows(/Signed by both\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });

  const reminded: number[] = [];
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  for await (const { event, at } of store.exportAudit()) if (event === 'reminded') reminded.push(at);
  const pauses = reminded.slice(1).map((at, index) => at - (reminded[index] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
  const notices = (words: string) => story.repliesIn(thread).filter(({ text }) => text.includes(words));
  expect(reminded.length).toBeGreaterThan(1);
  // One reminder takes the place of the other, and none is left of what was decided.
  await story.workspace.until(() => notices('is waiting for').length === 0);
  expect(notices('Can now be decided')).toHaveLength(1);
});

test('an approved action that an outage of Slack held up past its deadline does not start, and is asked anew', async () => {
  const story = await startStory({
    manifest: manifest('start_within: 1s, notify: { direct_messages: false }'),
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    sweep: { everyMs: 50, overdueMs: 0 },
  });
  let isDown = true;
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  // The requesters are checked before the start, and not at the click.
  story.workspace.fail(
    'users.info',
    { kind: 'status', status: 503 },
    { when: ({ user }) => isDown && user === CAST.requester, calls: 10_000 },
  );
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/Starting…/);
  await sleep(1_200);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  isDown = false;
  await thread.shows(/couldn't start in time, so it needs a new approval/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
});

test('an escalation to a group whose members Slack cannot tell at first reaches each of them, once', async () => {
  const story = await startStory({
    manifest: manifest(`escalate: { after: 3s, to: [${APPROVERS_GROUP}] }`).replace(
      `approvers: [${CAST.alice}, ${CAST.bruno}]`,
      `approvers: [${CAST.admin}]`,
    ),
    sweep: { everyMs: 100, overdueMs: 0 },
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  await story.directly(CAST.admin).shows(/Approval needed/);
  story.workspace.fail('usergroups.users.list', { kind: 'status', status: 503 }, { calls: 2 });
  await story.directly(CAST.alice).shows(/Approval needed/);
  await story.directly(CAST.bruno).click(CAST.bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(story.repliesIn(thread).filter(({ text }) => text.includes('Escalated'))).toHaveLength(1);
});
