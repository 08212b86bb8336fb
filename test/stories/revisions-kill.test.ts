import { expect, test } from 'vitest';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, heardByModel, MANIFEST, PLACES, startStory } from './support.ts';

const { alice, requester: remi } = CAST;

test('an edit that arrived before its process was killed is read by the next one', async () => {
  const story = await startStory({
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }] },
      { text: 'Refunded.' },
    ],
    timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, MANIFEST);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const me = story.workspace.as(remi);
  const mention = `<@${story.workspace.state.app.botUserId}>`;
  const { ts } = me.send(PLACES.general, `${mention} and tell Ada`, { threadTs: thread.ts });
  me.edit({ channel: PLACES.general, ts }, `${mention} and tell Bert`);
  await story.allReceived();
  await doomed.kill();
  await story.startOwnBot();
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(heardByModel(story.model).at(-1)).toMatch(/: and tell Bert$/);
  expect(heardByModel(story.model)).toHaveLength(2);
});
