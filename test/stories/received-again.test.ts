import { expect, onTestFinished, test } from 'vitest';
import { threadIdOf } from '../../src/bot/slack/thread.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { CAST, heardByModel, type Story, startStory, type Thread } from './support.ts';

const refund = (orderId: string) => ({ name: 'refund_order', arguments: { orderId, amount: 12_000 } });
const question = (words: string) => ({ name: 'ask_question', arguments: { question: words } });

/** A reply whose first hearer died as soon as it was in the inbox: Slack heard nothing of that, and sends it again. */
async function replyAfterDeath(story: Story, thread: Thread, text: string, waiting = 1): Promise<void> {
  const { state } = story.workspace;
  const { channel, ts: threadTs } = thread;
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const threadId = threadIdOf({ channel, threadTs });
  const [answers = ''] = await store.waitingIn(threadId);
  const ts = state.clock.next();
  const meant = text === 'stop' ? { stops: true } : { answers };
  const item = { id: ts, body: { user: CAST.requester, text, ...meant } };
  const stops = { who: CAST.requester, evidence: {} };
  const options = text === 'stop' ? { stops } : {};
  expect(await store.enqueue(threadId, item, options)).toMatchObject({ outcome: 'enqueued', waiting });

  const place = state.channels.get(channel);
  const said = { user: CAST.requester, text, ts, thread_ts: threadTs };
  state.emitEvent({
    subscription: 'message.channels',
    event: { type: 'message', ...said, channel, channel_type: 'channel' },
    ...(place !== undefined && { channel: place }),
  });
}

/** Slack sends again what somebody said some time ago, every event of it. */
async function sendAgain({ workspace }: Story, text: string): Promise<void> {
  const sent = workspace.deliveries.filter(({ type, payload }) => {
    const spoken = JSON.stringify(payload);
    return type === 'events_api' && spoken.includes(`${text}"`) && spoken.includes(CAST.requester);
  });
  expect(sent).not.toEqual([]);
  for (const delivery of nonEmpty(sent)) {
    expect(await workspace.redeliver(delivery)).toMatchObject({ kind: 'answered' });
  }
}

test('a stop whose first hearer died withdraws what waited when it comes again', async () => {
  const story = await startStory({ replies: [{ calls: [refund('A-1001')] }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  await replyAfterDeath(story, thread, 'stop');
  await thread.shows(/withdrawn by/);
  await thread.shows(/^Stopped\. Withdrawn: /);
  expect(heardByModel(story.model)).toEqual(['remi: refund order A-1001']);
});

test('a copy of an old stop does not withdraw what was asked since', async () => {
  const story = await startStory({
    replies: [{ calls: [refund('A-1001')] }, { calls: [refund('A-1003')] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/^Stopped\. Withdrawn: /);
  await story.deliveredAll();
  story.ask('refund order A-1003 then', { threadTs: thread.ts });
  await thread.shows(/Approval needed[\s\S]*A-1003/);

  await sendAgain(story, 'stop');
  await thread.click(CAST.alice, /Approval needed[\s\S]*A-1003/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  expect(await story.ledger.order('A-1003')).toMatchObject({ refunded: 12_000 });
});

test('a stop whose first hearer died stops the turn that runs', async () => {
  const story = await startStory({ replies: [{ text: ['It is ', 'long'], hang: 1 }] });
  const thread = story.ask('tell me a story');
  await story.workspace.until(() => story.model.requests.length === 1, { what: 'the call of the model' });
  await replyAfterDeath(story, thread, 'stop', 0);
  await thread.shows(/Stopped\. Nothing else had run\./);
});

test('a copy of an old stop does not stop the task that runs since', async () => {
  let goOn = () => {};
  const until = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  onTestFinished(goOn);
  const story = await startStory({
    replies: [
      { text: ['It is ', 'long'], hang: 1 },
      { text: 'A short one.', before: () => until },
    ],
  });
  const thread = story.ask('tell me a story');
  await story.workspace.until(() => story.model.requests.length === 1, { what: 'the call of the model' });
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/Stopped\. Nothing else had run\./);
  story.ask('a short one then', { threadTs: thread.ts });
  await story.workspace.until(() => story.model.requests.length === 2, { what: 'the next call' });
  await sendAgain(story, 'stop');
  goOn();
  await thread.shows(/A short one\./);
});

test('a written answer whose first hearer died is taken when it comes again, and a later copy answers no further question', async () => {
  const story = await startStory({
    replies: [
      { calls: [question('Which colour?')] },
      { calls: [question('Which size?')] },
      { text: 'A large green one.' },
    ],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.shows(/Which colour\?/);
  await replyAfterDeath(story, thread, 'Green');
  await thread.shows(/Which size\?/);

  await sendAgain(story, 'Green');
  story.workspace.as(CAST.requester).send(thread.channel, 'Large', { threadTs: thread.ts });
  await thread.shows(/A large green one\./);
  expect(story.toldOfCalls()).toEqual(['Green', 'Large']);
  expect(heardByModel(story.model)).toEqual(['remi: buy me a bicycle']);
});
