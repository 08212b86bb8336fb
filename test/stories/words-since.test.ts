import { expect, test } from 'vitest';
import { CAST, heardByModel, MANIFEST, type Story, startStory, type Thread } from './support.ts';

const { requester: remi, alice, bruno } = CAST;
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount } }],
});
const manifest = MANIFEST.replaceAll(', notify: { direct_messages: false }', '');
const write = (story: Story, thread: Thread, text: string, who: string = remi) =>
  story.workspace.as(who).send(thread.channel, text, { threadTs: thread.ts });
const SINCE = /💬 .*wrote since: .*Actually make it 110/;

test('what a requester writes while their request waits is on every copy of its card, and they can withdraw it and start again', async () => {
  const story = await startStory({ manifest, replies: [refund(12_000), refund(11_000)] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed[\s\S]*12000/);
  await story.directly(alice).shows(/Approval needed[\s\S]*12000/);
  write(story, thread, 'Actually make it 110');
  for (const place of [thread, story.directly(alice), story.directly(bruno)]) await place.shows(SINCE);
  // Somebody else's words are nothing that the request should have heard.
  write(story, thread, 'I like it', bruno);

  const offer = await story.noticeFor(remi, /Your request is still waiting for approval/);
  await story.workspace.as(remi).click({ channel: offer.channel, ts: offer.ts }, 'start-again');
  await thread.shows(/Withdrawn: Refund order/);
  await thread.shows(/Approval needed[\s\S]*11000/);
  expect(heardByModel(story.model).join()).toContain('Actually make it 110');
  expect(JSON.stringify(story.repliesIn(thread))).not.toContain('I like it');
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('words that the turn did not wait for are on the card from the start; an edit changes them, and a deletion takes them off', async () => {
  let send = () => {};
  const story = await startStory({
    replies: [{ ...refund(12_000), before: async () => send() }],
  });
  const thread = story.ask('refund order A-1001');
  let ts = '';
  send = () => {
    if (ts === '') ts = write(story, thread, 'Actually make it 110').ts;
  };
  const card = await thread.shows(SINCE);
  const person = story.workspace.as(remi);
  person.edit({ channel: thread.channel, ts }, 'Make it "90"');
  await thread.shows(/wrote since: .*Make it \\\\+"90/);
  person.delete({ channel: thread.channel, ts });
  await story.workspace.until(() => !JSON.stringify(card.blocks).includes('wrote since'), {
    what: 'a card without the words',
  });
});

test('once the words were read, the offer withdraws nothing', async () => {
  const story = await startStory({
    replies: [
      refund(12_000),
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1002', amount: 12_000 } }] },
    ],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed[\s\S]*12000/);
  write(story, thread, 'and order A-1002');
  const offer = await story.noticeFor(remi, /still waiting for approval/);
  await thread.click(alice, /wrote since/, 'approve');
  await thread.shows(/Approval needed[\s\S]*A-1002/);
  await story.workspace.as(remi).click({ channel: offer.channel, ts: offer.ts }, 'start-again');
  await story.workspace.until(
    () => /Nothing of yours is waiting/.test(JSON.stringify(story.workspace.ephemeralsFor(remi))),
    {
      what: 'the answer',
    },
  );
  await thread.click(alice, /Approval needed[\s\S]*A-1002/, 'details');
});
