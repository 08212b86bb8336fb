import { expect, test } from 'vitest';
import { feedbackIn } from '../../src/store/documents/feedback.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, MANIFEST, PLACES, type Story, startStory } from './support.ts';

const { bruno, requester: remi } = CAST;
const manifest = MANIFEST.replace(
  'agent: { instructions: Help. }',
  'agent: { instructions: Help., feedback: true }',
);
const channel = PLACES.general;

/** Finds the value of one of the feedback buttons below a message. */
function ratingOf(blocks: unknown, verdict: 'good' | 'bad'): string {
  const [, value = ''] = new RegExp(`"value":"(${verdict} [^"]+)"`).exec(JSON.stringify(blocks)) ?? [];
  return value;
}

function feedbackOf({ redis, prefix }: Story) {
  return feedbackIn(openRedisStore({ client: redis, prefix })).list();
}

test('a final answer can be rated, each person counts once, and a later word replaces the earlier one', async () => {
  const story = await startStory({ manifest, replies: [{ text: 'It is **shipped**.' }, { text: 'Again.' }] });
  const thread = story.ask('where is my order?');
  const answer = await thread.shows(/It is \*\*shipped\*\*/);
  expect(answer.blocks).toMatchObject([{ type: 'markdown' }, { type: 'context_actions' }]);
  const rate = (who: string, verdict: 'good' | 'bad') =>
    story.workspace
      .as(who)
      .click({ channel, ts: answer.ts }, 'feedback', { value: ratingOf(answer.blocks, verdict) });
  await rate(remi, 'bad');
  await story.noticeFor(remi, /what went wrong/);
  await rate(remi, 'good');
  await rate(bruno, 'bad');
  await story.noticeFor(bruno, /Thank you/);
  const given = (await feedbackOf(story)).map(({ person, verdict }) => [person, verdict]);
  expect(given.sort()).toEqual(
    [
      [bruno, 'bad'],
      [remi, 'good'],
    ].sort(),
  );
  const forged = ratingOf(answer.blocks, 'good').replace(channel, 'C0OTHER0001');
  await story.workspace.as(bruno).click({ channel, ts: answer.ts }, 'feedback', {
    ...{ value: forged, blockId: 'forged', force: true },
  });
  await story.noticeFor(bruno, /can't rate this answer from here/);
  expect(await feedbackOf(story)).toHaveLength(2);
  // A rating is no message: the agent is not called for it.
  expect(story.model.requests).toHaveLength(1);
  story.ask('and the other one?', { threadTs: thread.ts });
  await thread.shows(/Again\./);
});

test('an answer that was streamed has the buttons, a card and a stopped turn have none, and by default nothing has', async () => {
  const started = () =>
    story.workspace.until(({ calls }) => calls.some(({ method }) => method === 'chat.startStream'), {
      what: 'chat.startStream',
    });
  const story = await startStory({
    manifest,
    replies: [
      {
        text: ['First part, ', 'then the rest of it.'],
        before: (chunk) => (chunk === 2 ? started() : undefined),
      },
      { text: 'I ask.', calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }] },
    ],
  });
  const thread = story.ask('tell me more');
  const answer = await thread.shows(/the rest of it[\s\S]*feedback_buttons/);
  expect(JSON.stringify(answer.blocks)).toContain('Good answer');
  const other = story.ask('refund it');
  await other.shows(/Approval needed/);
  await story.deliveredAll();
  expect(JSON.stringify(story.repliesIn(other))).not.toContain('feedback_buttons');

  const plain = await startStory({ replies: [{ text: 'Hello.' }] });
  const greeting = await plain.ask('hello').shows(/Hello\./);
  expect(JSON.stringify(greeting.blocks)).not.toContain('feedback_buttons');
});
