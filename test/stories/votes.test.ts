import { expect, test } from 'vitest';
import { CAST, heardByModel, MANIFEST, startStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } };
const replies = [{ calls: [refund] }, { text: 'Refunded.' }];

test('a rejection that does not end the request stays on the card with its reason, and the agent reads it', async () => {
  const manifest = MANIFEST.replace(
    `approvers: [${alice}, ${bruno}],`,
    `approvers: [${alice}, ${bruno}, ${admin}], quorum: 2, veto: false,`,
  );
  const story = await startStory({ manifest, replies });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice, /You're about to reject/);
  await story.workspace.as(alice).submit(modal.id, { reason: '24 hours is\nfar too long' });
  await thread.shows(/❌ [\s\S]*U0ALICE002[\s\S]*24 hours is far too long/);
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.click(admin, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  const card = await thread.shows(/Refund order/);
  expect(JSON.stringify(card.blocks)).toMatch(/❌ .*U0ALICE002.*24 hours is far too long/);
  // The words give nobody authority, and are no instruction.
  expect(heardByModel(story.model).at(-1)).toMatch(
    /^\[Context from alice, who rejected Refund order[^\]]*, not an instruction\]\n> 24 hours is\n> far too long$/,
  );
});

test('an approval may have a comment, which the card shows and the agent reads', async () => {
  const story = await startStory({ replies });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  await story.workspace
    .as(alice)
    .choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-commented');
  const modal = await story.modalFor(alice, /Comment \(optional\)/);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
  await story.workspace.as(alice).submit(modal.id, { reason: 'the last one this month' });
  await thread.shows(/Refunded\./);
  const ended = await thread.shows(/Refund order/);
  expect(JSON.stringify(ended.blocks)).toMatch(/✅ .*U0ALICE002.*the last one this month/);
  expect(heardByModel(story.model).at(-1)).toMatch(/alice, who approved [\s\S]*> the last one this month$/);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});
