import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: '' } }],
});
/** A time of day in UTC, so many hours from now. */
const hour = (from: number) => new Date(Date.now() + 3_600_000 * from).toISOString().slice(11, 16);
const NOW = `quiet_hours: { from: "${hour(-2)}", to: "${hour(2)}", time_zone: UTC }`;
const LATER = `quiet_hours: { from: "${hour(2)}", to: "${hour(4)}", time_zone: UTC }`;
const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;
const sweep = { everyMs: 50, overdueMs: 0 };

test('in quiet hours the card is in the thread at once, and nobody gets a direct message or a reminder; approvals count as ever', async () => {
  const story = await startStory({
    manifest: manifest(`notify: { remind: 1s, ${NOW} }`),
    sweep,
    replies: [refund(12_000), { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  expect(JSON.stringify(card.blocks)).toContain('Quiet hours. Direct messages to approvers go out');
  const reminder = async () => {
    const timers = await story.redis.zrange(`{${story.prefix}}:timers`, '0', '-1', 'WITHSCORES');
    return Number(timers[timers.findIndex((name) => name.startsWith('remind|')) + 1]);
  };
  // The reminder is set for the end of the quiet hours.
  await expect.poll(reminder).toBeGreaterThan(Date.now() + 3_600_000);
  const directly = story.workspace.messagesIn(story.workspace.directMessages(alice));
  expect(directly).toEqual([]);
  expect(story.repliesIn(thread).filter(({ text }) => text.startsWith('Reminder'))).toEqual([]);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(story.workspace.messagesIn(story.workspace.directMessages(alice))).toEqual([]);
});

test.each([
  ['at another time', `notify: { ${LATER} }`],
  ['for high risk', `risk: high, notify: { ${NOW} }`],
  ['for what expires before they end', `expires: 1h, notify: { ${NOW} }`],
])('quiet hours hold nothing back %s', async (_when, policy) => {
  const story = await startStory({ manifest: manifest(policy), replies: [refund(12_000)] });
  const thread = story.ask('refund order A-1001');
  await story.directly(alice).shows(/Approval needed/);
  const card = await thread.shows(/Approval needed/);
  expect(JSON.stringify(card.blocks)).not.toContain('Quiet hours');
});
