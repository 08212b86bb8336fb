import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });

test('an approved action runs once, exactly as shown, and the reply arrives in the thread', async () => {
  const story = await startStory({
    replies: [{ text: 'I will.', calls: [refund(12_000)] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Refund order[\s\S]*12000[\s\S]*Approve/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });

  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  const settled = await thread.shows(/Done: Refund order/);
  expect(settled.ts).toBe(card.ts);
  expect(JSON.stringify(settled.blocks)).toContain(CAST.alice);
});

test('what no rule asks for runs without anybody', async () => {
  const story = await startStory({ replies: [{ calls: [refund(900)] }, { text: 'Refunded nine dollars.' }] });
  await story.ask('refund a little').shows(/Refunded nine dollars/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 900 });
});

test('a rejected action never runs, and the model is told the reason', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'Nobody wanted that.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Approve/, 'reject');
  const modal = await story.workspace.until(() => story.workspace.modalOf(CAST.bruno), { what: 'the modal' });
  await story.workspace.as(CAST.bruno).submit(modal.id, { reason: 'Too much.' });

  await thread.shows(/Nobody wanted that/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  const told = story.model.requests.at(-1)?.messages.find((message) => message.role === 'tool');
  expect(told?.content).toMatch(/denied.*Too much/);
});

test('a question is answered with a button, and the answer reaches the model', async () => {
  const question = { question: 'Which one?', choices: ['Red', 'Blue'] };
  const story = await startStory({
    replies: [{ calls: [{ name: 'ask_question', arguments: question }] }, { text: 'Blue it is.' }],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.click(CAST.requester, /Which one\?/, 'choose:1');
  await thread.shows(/Blue it is/);
  expect(story.model.requests.at(-1)?.messages.find((message) => message.role === 'tool')?.content).toBe(
    'Blue',
  );
});

test('the requester and strangers to the policy cannot sign, and are told so in private', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.requester, /Approve/, 'approve');
  await story.noticeFor(CAST.requester, /can approve this|someone else/);
  await thread.click(CAST.guest, /Approve/, 'approve');
  await story.noticeFor(CAST.guest, /Guests/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});
