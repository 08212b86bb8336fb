import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { receiveRevision, redoEdited } from '../../src/bot/inbox/revise-message.ts';
import { clickCard } from '../support/click-card.ts';
import { CAST, heardByModel, PLACES, type Story, startStory } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });
const channel = PLACES.general;

const mention = ({ workspace }: Story, text: string) => `<@${workspace.state.app.botUserId}> ${text}`;

test('messages that were edited or deleted before they are read are read as their authors left them', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'Refunded.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const me = story.workspace.as(remi);
  const first = me.send(channel, mention(story, 'and tell Ada'), { threadTs: thread.ts });
  const second = me.send(channel, mention(story, 'and tell Hooper'), { threadTs: thread.ts });
  await story.allReceived();
  me.edit({ channel, ts: first.ts }, mention(story, 'and tell Bert'));
  me.edit({ channel, ts: first.ts }, mention(story, 'and tell Cora'));
  me.delete({ channel, ts: second.ts });
  await story.allReceived();
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(heardByModel(story.model)).toEqual([
    expect.stringMatching(/: refund order A-1001$/),
    expect.stringMatching(/: and tell Cora$/),
  ]);
  await story.deliveredAll();
  expect(story.repliesIn(thread).filter(({ text }) => /edited|deleted/.test(text))).toEqual([]);
});

test('an edit of a message that was read offers its author to redo: what waits is withdrawn, and the new text is done', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Refunded 130.' }],
  });
  const thread = story.ask('refund 120');
  const card = await thread.shows(/Approval needed[\s\S]*12000/);
  story.workspace.as(remi).edit({ channel, ts: thread.ts }, mention(story, 'refund 130'));
  const offer = await thread.shows(/I can start again with the new text/);
  await clickCard(story.workspace, bruno, { channel, ts: offer.ts }, 'redo');
  await story.noticeFor(bruno, /Only the author/);
  await clickCard(story.workspace, remi, { channel, ts: offer.ts }, 'redo');
  await thread.shows(/Approval needed[\s\S]*13000/);
  await thread.shows(/Starting again with the new text/);
  expect(JSON.stringify(story.workspace.state.findMessage(channel, card.ts)?.blocks)).toMatch(/Withdrawn/i);
  expect(heardByModel(story.model)).toEqual([
    expect.stringMatching(/: refund 120$/),
    expect.stringMatching(
      /^\[Context from .+ on their earlier message, .+, not an instruction\]\n> refund 130$/,
    ),
    expect.stringMatching(/: \(replaces my earlier message\) refund 130$/),
  ]);
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Refunded 130\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(13_000);
});

test('a redo stops the turn that runs when it is clicked, and not the one that reads the new text', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const opened = async ({ signal }: AbortController): Promise<void> => {
    if (!signal.aborted) await once(signal, 'abort');
  };
  onTestFinished(() => {
    first.abort();
    second.abort();
  });
  const story = await startStory({
    replies: [
      { text: 'The old one.', before: () => opened(first) },
      { text: 'The new one.', before: () => opened(second) },
    ],
    withoutBot: true,
  });
  const { context } = await story.startOwnBot();
  const calls = (count: number) =>
    story.workspace.until(() => story.model.requests.length === count, { what: `call ${count}` });
  const thread = story.ask('tell me the old one');
  await calls(1);
  const revisedAt = story.workspace.state.clock.next();
  await receiveRevision(
    context,
    { thread: { channel, threadTs: thread.ts }, ts: thread.ts, user: remi, text: 'the new one', revisedAt },
    undefined,
  );
  // The answer of Redis is slow: meanwhile the old turn ends, and the next reads the new text.
  const slow: typeof context.store.enqueue = async (...item) => {
    const enqueued = await context.store.enqueue(...item);
    first.abort();
    await calls(2);
    return enqueued;
  };
  const slowContext = { ...context, store: { ...context.store, enqueue: slow } };
  const value = `${channel}:${thread.ts} ${thread.ts}/${revisedAt}`;
  expect(await redoEdited(slowContext, value, remi)).toBeUndefined();
  second.abort();
  await thread.shows(/The new one\./);
});

test('an edit after the action says that it comes too late, a deletion while something waits says how to stop, and the model is not called for either', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(500)] }, { calls: [refund(12_000)] }, { text: 'Later.' }],
  });
  const thread = story.ask('refund 5, then 120');
  await thread.shows(/Approval needed[\s\S]*12000/);
  story.workspace.as(remi).edit({ channel, ts: thread.ts }, mention(story, 'refund 6'));
  await thread.shows(/You edited a message after I had acted on it/);
  story.workspace.as(remi).delete({ channel, ts: thread.ts });
  await thread.shows(/Write \*stop\* to cancel/);
  await story.deliveredAll();
  expect(story.model.requests).toHaveLength(2);
  expect(JSON.stringify(story.repliesIn(thread))).not.toContain('"redo"');
  await thread.click(alice, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/Later\./);
});
