import { expect, test } from 'vitest';
import { actionsIn } from '../bot/views/cards/payloads.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'damaged' } }],
});
const SWEEP = { everyMs: 100, overdueMs: 0 };
const approvers = MANIFEST.replace('agent: {', 'agent: { cards: { buttons: approvers },');
const REVIEWED = /Being reviewed by [\s\S]*U0ALICE002/;

test('with buttons for approvers the card in the thread has none, each approver has theirs, and who asked can withdraw there', async () => {
  const story = await startStory({
    manifest: approvers.replaceAll(', notify: { direct_messages: false }', ''),
    replies: [refund(20_000), { text: 'Refunded.' }, refund(20_000), { text: 'Nothing more to do.' }],
  });
  const thread = story.ask('refund 200');
  const card = await thread.shows(/Approval needed[\s\S]*Approvers decide in their direct messages/);
  expect(actionsIn(card.blocks)).toEqual(expect.not.arrayContaining(['approve', 'reject', 'edit']));
  expect(actionsIn(card.blocks)).toEqual(expect.arrayContaining(['details', 'withdraw']));
  const own = await story.directly(alice).shows(/Approval needed/);
  expect(actionsIn(own.blocks)).toEqual(expect.arrayContaining(['approve', 'reject']));
  await story.directly(alice).click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  const second = story.ask('refund 200 again');
  await second.click(remi, /Approval needed/, 'withdraw');
  await second.shows(/Withdrawn/);
  await second.shows(/Nothing more to do\./);
});

test('where nobody gets a direct message the buttons stay in the thread', async () => {
  const story = await startStory({ manifest: approvers, replies: [refund(20_000), { text: 'Refunded.' }] });
  const thread = story.ask('refund 200');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('a card says for five minutes who has opened Details and may decide; it locks nothing', async () => {
  const story = await startStory({
    manifest: MANIFEST,
    sweep: SWEEP,
    replies: [refund(20_000), { text: 'Refunded.' }],
  });
  const thread = story.ask('refund 200');
  const card = await thread.shows(/Approval needed/);
  // Who asked, and who may not decide, is no reviewer.
  await thread.click(remi, /Approval needed/, 'details');
  await story.modalFor(remi);
  await thread.click(CAST.guest, /Approval needed/, 'details');
  await thread.click(alice, /Approval needed/, 'details');
  await story.modalFor(alice);
  await thread.shows(REVIEWED);
  // Somebody else who looks changes nothing.
  await thread.click(bruno, REVIEWED, 'details');
  await story.modalFor(bruno);

  const [key = ''] = await story.redis.keys(`{${story.prefix}}:ask:*`);
  const cause = (await story.redis.hget(key, 'redrawn_for')) ?? '';
  expect(cause).toMatch(/^review U0ALICE002 \d+$/);
  await story.redis.hset(key, 'redrawn_for', cause.replace(/\d+$/, String(Date.now() - 300_001)));
  for (const view of await story.redis.zrange(`{${story.prefix}}:outbox`, '0', '-1'))
    await story.redis.zadd(`{${story.prefix}}:outbox`, 'XX', 0, view);
  await story.workspace.until(() => !JSON.stringify(card.blocks).includes('Being reviewed'), {
    what: 'a card without the reviewer',
  });
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});
