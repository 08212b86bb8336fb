import { expect, test } from 'vitest';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;

test('a direct message that quiet hours held back is sent once when they end, by another process after the first was killed', async () => {
  // They end with a minute that begins soon, and not too soon for the first process to hold the message back.
  const end = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
  const clock = (moment: number) => new Date(moment).toISOString().slice(11, 16);
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], notify: { quiet_hours: { from: "${clock(end - 7_200_000)}", to: "${clock(end)}", time_zone: UTC } } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;
  const story = await startStory({
    manifest,
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } }] },
    ],
    timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
    slack: { timings: {} },
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, manifest);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const held = async () => {
    const keys = await story.redis.keys(`{${story.prefix}}:outbox`);
    const scores = await Promise.all(keys.map((key) => story.redis.zrange(key, '0', '-1', 'WITHSCORES')));
    return scores.flat();
  };
  await expect.poll(async () => Number((await held())[1] ?? 0)).toBeGreaterThan(end - 1_000);
  await doomed.kill();
  expect(story.workspace.messagesIn(story.workspace.directMessages(alice))).toEqual([]);
  await story.startOwnBot();
  await expect
    .poll(() => story.workspace.messagesIn(story.workspace.directMessages(alice)).length, {
      timeout: 300_000,
    })
    .toBe(1);
  expect(Date.now()).toBeGreaterThanOrEqual(end);
  await story.deliveredAll();
  expect(story.workspace.messagesIn(story.workspace.directMessages(alice))).toHaveLength(1);
});
