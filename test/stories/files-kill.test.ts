import { expect, test } from 'vitest';
import { makePng } from '../support/make-file.ts';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, heardByModel, MANIFEST, PLACES, startStory } from './support.ts';

const { alice, requester: remi } = CAST;

test('files that were read before a process was killed are sent to the model again, byte for byte, though Slack has lost them', async () => {
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
  const mention = `<@${story.workspace.state.app.botUserId}>`;
  const files = [
    { name: 'shot.png', bytes: makePng(40, 30) },
    { name: 'order.txt', bytes: Buffer.from('A-1001') },
  ];
  const { ts } = story.workspace.as(remi).send(PLACES.general, `${mention} refund this`, { files });
  const thread = story.threadIn(PLACES.general, ts);
  await thread.shows(/Approval needed/);
  const before = heardByModel(story.model);
  await doomed.kill();
  story.workspace.state.files.files.clear();
  await story.startOwnBot();
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(before).toHaveLength(3);
  expect(before[0]).toContain('data:image/png;base64,');
  expect(heardByModel(story.model)).toEqual(before);
});

test('a file whose upload was completed when the process was killed is shown once', async () => {
  const manifest = `${MANIFEST}
  export_orders: { module: ./test/stories/fixtures/report-tools.ts, approval: { require: never } }
`;
  const story = await startStory({
    manifest,
    replies: [{ calls: [{ name: 'export_orders', arguments: {} }] }, { text: 'Here it is.' }],
    timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, manifest);
  story.workspace.fail('files.completeUploadExternal', { kind: 'slow', milliseconds: 600_000 });
  const thread = story.ask('export the orders');
  const shown = () => story.repliesIn(thread).filter(({ files = [] }) => files.length > 0);
  await story.workspace.until(() => shown().length > 0, { what: 'the file in the thread' });
  await doomed.kill();
  await story.startOwnBot();
  await story.workspace.until(() => story.workspace.calls.some(({ method }) => method === 'files.info'), {
    what: 'Slack asked whether the file is shown',
  });
  await thread.shows(/Here it is\./);
  await story.deliveredAll();
  expect(shown()).toHaveLength(1);
});
