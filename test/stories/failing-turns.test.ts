import { expect, test } from 'vitest';
import { MESSAGE_VERSION } from '../../src/agent/messages.ts';
import { threadIdOf } from '../../src/bot/slack/thread.ts';
import { Keys } from '../../src/store/record/keys.ts';
import { startStory } from './support.ts';

const FAST = { leaseMs: 3_000, renewMs: 50 };
const SWEEP = { everyMs: 50, overdueMs: 0 };

test('a thread whose turns keep failing is quarantined after some tries, and people are told once', async () => {
  const story = await startStory({
    replies: [{ text: 'Hello.' }, { text: 'Here again.' }],
    timing: FAST,
    sweep: SWEEP,
  });
  const thread = story.ask('hello');
  await thread.shows(/Hello\./);
  // A call without a result, which no turn can go on from.
  const toolRequest = { name: 'lost', ref: 'lost', input: {} };
  const content = [{ toolRequest, idempotencyKey: 'lost' }];
  const log = new Keys(story.prefix).log(threadIdOf({ channel: thread.channel, threadTs: thread.ts }));
  await story.redis.rpush(log, JSON.stringify({ v: MESSAGE_VERSION, role: 'model', content }));
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/I can't continue this thread/);
  const told = story.repliesIn(thread).filter(({ text }) => /can't continue/.test(text));
  expect(told).toHaveLength(1);

  const other = story.ask('are you there?');
  await other.shows(/Here again\./);
}, 60_000);
