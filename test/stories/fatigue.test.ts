import { expect, test } from 'vitest';
import { clickCard } from '../support/click-card.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const refund = (amount: number, orderId = 'A-1001') => ({
  name: 'refund_order',
  arguments: { orderId, amount },
});

test('of many calls people are asked a few, identical ones once, and one notice tells the person of the others', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace(
      'Help. }',
      'Help., limits: { pending_per_thread: 2, pending_per_person: 3 } }',
    ),
    replies: [
      { calls: [refund(12_000), refund(12_000), refund(13_000), refund(14_000), refund(15_000)] },
      { calls: [refund(11_000, 'A-1003'), refund(11_500, 'A-1003')] },
      { text: 'Some of it.' },
    ],
  });
  const first = story.ask('refund order A-1001');
  const cards = await Promise.all([
    first.shows(/Approval needed[\s\S]*12000/),
    first.shows(/Approval needed[\s\S]*13000/),
  ]);
  await first.shows(/Refund order \(2 calls\) did not run\. This thread has 2 requests waiting/);
  expect(story.repliesIn(first)).toHaveLength(3);

  const second = story.ask('refund order A-1003');
  await second.shows(/Approval needed[\s\S]*11000/);
  await second.shows(/Refund order did not run\. A requester has 3 requests waiting/);
  expect(story.repliesIn(second)).toHaveLength(2);

  await story.workspace.as(CAST.alice).click(cards[0], 'approve');
  await clickCard(story.workspace, CAST.requester, cards[1], 'withdraw');
  await first.shows(/Some of it\./);
  expect(story.toldOfCalls()).toEqual([
    expect.stringContaining('"refunded":12000'),
    expect.stringMatching(/joined.*Identical to call/),
    expect.stringContaining('withdrawn'),
    expect.stringMatching(/not-asked.*Ask again/),
    expect.stringMatching(/not-asked.*Ask again/),
  ]);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
});

test('a denied call that the model repeats unchanged is refused without another card', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(12_000)] }, { text: 'So be it.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Approval needed/, 'reject');
  const modal = await story.modalFor(CAST.bruno, /You're about to reject/);
  await story.workspace.as(CAST.bruno).submit(modal.id, { reason: 'Too much.' });
  await thread.shows(/So be it\./);
  expect(story.toldOfCalls()).toEqual([
    expect.stringMatching(/denied.*Too much\./),
    expect.stringMatching(/denied.*Too much\..*denied before/),
  ]);
  const cards = story
    .repliesIn(thread)
    .filter(({ blocks = [] }) => JSON.stringify(blocks).includes('rejected by'));
  expect(cards).toHaveLength(1);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});
