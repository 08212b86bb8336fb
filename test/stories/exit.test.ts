import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const done = {
  name: 'complete_task',
  arguments: {
    outcome: 'done',
    summary: 'Two orders were checked.',
    result: { checked: 2, refunded: false },
  },
};
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

test('a completed task ends the loop with its result as data, and the thread can go on afterwards', async () => {
  const story = await startStory({ replies: [{ text: 'One moment.', calls: [done] }, { text: 'Gladly.' }] });
  const thread = story.ask('check the orders');
  const result = await thread.shows(/Two orders were checked/);
  expect(result.text).toMatch(/One moment\.[\s\S]*Done\.[\s\S]*Checked: 2[\s\S]*Refunded: no/);
  expect(story.repliesIn(thread)).toHaveLength(1);
  expect(story.model.requests).toHaveLength(1);

  story.ask('thank you, and now the next ones', { threadTs: thread.ts });
  await thread.shows(/Gladly\./);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('recorded')]);
});

test('a task declared complete beside an action still waits for that action', async () => {
  const story = await startStory({ replies: [{ calls: [refund, done] }, { text: 'All settled.' }] });
  const thread = story.ask('refund and be done');
  await thread.shows(/Two orders were checked/);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/All settled\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
});
