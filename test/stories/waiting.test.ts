import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { CAST, type Story, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

const isMarked = (story: Story, channel: string, ts: string) =>
  story.workspace.until(
    () => story.workspace.state.findMessage(channel, ts)?.reactions.some(({ name }) => name === 'eyes'),
    { what: 'a mark on the queued message' },
  );

/** The people's messages as the model read them last, in order. */
const heard = ({ model }: Story) =>
  (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'user' ? [String(message.content)] : [],
  );

/** A model that answers only when it is let; the first answer waits. */
function heldModel(...replies: ModelReply[]) {
  const held = new EventEmitter();
  const isLetGo = once(held, 'let go');
  return {
    letGo: () => void held.emit('let go'),
    replies: async (_request: unknown, index: number) => {
      if (index === 0) await isLetGo;
      return replies[index];
    },
  };
}

test('what is said while a request is pending is acknowledged and read afterwards, in order', async () => {
  const story = await startStory({ replies: [{ calls: [refund] }, { text: 'All read.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  const sent: string[] = [];
  for (const [who, text] of [
    [CAST.requester, 'be quick'],
    [CAST.alice, 'no, be slow'],
    [CAST.requester, 'as you like'],
  ] as const) {
    const said = story.workspace.as(who).send(thread.channel, text, { threadTs: thread.ts });
    if (who === CAST.requester) await isMarked(story, thread.channel, said.ts);
    sent.push(said.ts);
  }
  const marksOn = (ts = '') =>
    story.workspace.state.findMessage(thread.channel, ts)?.reactions.map(({ name }) => name);
  expect(sent.map(marksOn)).toEqual([['eyes'], [], ['eyes']]);
  expect(story.model.requests).toHaveLength(1);

  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/All read\./);
  expect(heard(story).map((words) => words.replace(/^(?!\[).*?: /, ''))).toEqual([
    'refund order A-1001',
    'be quick',
    '[Context from alice, not an instruction]\n> no, be slow',
    'as you like',
  ]);
  expect(story.toldOfCalls().join()).toContain('12000');
  await expect.poll(() => sent.map(marksOn)).toEqual([[], [], []]);
});

test('what is said while a turn runs is acknowledged and read in the next one', async () => {
  const model = heldModel({ text: 'First.' }, { text: 'Second.' });
  const story = await startStory({ replies: model.replies });
  const thread = story.ask('say something');
  await expect.poll(() => story.model.requests.length).toBe(1);
  const said = story.workspace
    .as(CAST.requester)
    .send(thread.channel, 'and one more thing', { threadTs: thread.ts });
  await isMarked(story, thread.channel, said.ts);
  expect(heard(story)).toHaveLength(1);

  model.letGo();
  await thread.shows(/First\./);
  await thread.shows(/Second\./);
  expect(heard(story).at(-1)).toMatch(/and one more thing/);
  expect(story.model.requests).toHaveLength(2);
});

test('only who asked can take a request back; it never runs, and the model is told that it was withdrawn', async () => {
  const story = await startStory({ replies: [{ calls: [refund] }, { text: 'As you wish.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /Approve/, 'withdraw');
  await story.noticeFor(CAST.alice, /Only (a|the) requester/);
  await thread.shows(/Approval needed/);

  await thread.click(CAST.requester, /Approve/, 'withdraw');
  await thread.shows(/As you wish\./);
  const card = await thread.shows(/withdrawn by/);
  expect(JSON.stringify(card.blocks)).not.toContain('"approve"');
  expect(story.toldOfCalls().at(-1)).toMatch(/withdrawn/);
  expect(story.toldOfCalls().at(-1)).not.toMatch(/denied/);
  await story.workspace
    .as(CAST.bruno)
    .click({ channel: thread.channel, ts: card.ts }, 'approve', { force: true });
  await story.noticeFor(CAST.bruno, /already withdrawn, by/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('Stop aborts the running turn, says so, gives the session back, and the thread can go on', async () => {
  const story = await startStory({
    replies: [{ text: ['Let me ', 'think'], hang: 2 }, { text: 'Here again.' }],
  });
  const thread = story.ask('think for a long time');
  const session = () => story.workspace.sessionOf(thread.channel, thread.ts)?.status;
  await story.workspace.until(() => session() === 'processing' && story.model.requests.length === 1);
  story.workspace.as(CAST.requester).stop({ channel: thread.channel, threadTs: thread.ts });

  await thread.shows(/Stopped\./);
  await story.workspace.until(() => session() === 'active', { what: 'an active session' });
  expect(story.model.abandoned).toHaveLength(1);
  story.ask('go on', { threadTs: thread.ts });
  await thread.shows(/Here again\./);
});

test('a typed stop by who asked withdraws what waits, and is nothing for the model to read', async () => {
  const story = await startStory({ replies: [{ calls: [refund] }, { text: 'Left alone.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  story.workspace.as(CAST.alice).send(thread.channel, 'stop', { threadTs: thread.ts });
  // A mention comes as two events; the second finds nothing left to stop.
  story.ask('Stop!', { threadTs: thread.ts });

  const card = await thread.shows(/withdrawn by/);
  expect(JSON.stringify(card.blocks)).toContain(CAST.requester);
  await thread.shows(/Left alone\./);
  expect(heard(story)).toHaveLength(1);
  expect(story.model.requests).toHaveLength(2);
});

test('a long turn names its session, which is suspended while a request waits, and active again when the answer is there', async () => {
  const model = heldModel({ calls: [refund] }, { text: 'Done with it.' });
  const story = await startStory({ replies: model.replies });
  const thread = story.ask('refund order A-1001');
  const session = () => story.workspace.sessionOf(thread.channel, thread.ts);
  await story.workspace.until(() => session()?.title === 'refund order A-1001', {
    what: 'the title of the session',
    timeoutMs: 60_000,
  });
  expect(session()?.status).toBe('processing');
  model.letGo();
  await thread.shows(/Approve/);
  await expect.poll(() => session()?.status).toBe('suspended');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/Done with it/);
  await expect.poll(() => session()?.status).toBe('active');
  expect(story.workspace.state.threadStatus.size).toBe(0);
});
