import { expect, inject, test } from 'vitest';
import { MESSAGE_VERSION } from '../../src/agent/messages.ts';
import { threadIdOf } from '../../src/bot/slack/thread.ts';
import { Keys } from '../../src/store/port/keys.ts';
import { run } from '../commands/support.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const FAST = { leaseMs: 3_000, renewMs: 50 };
const SWEEP = { everyMs: 50, overdueMs: 0 };

test('a thread whose turns keep failing is quarantined after some tries; people are told once, and an admin lets it continue', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace('instructions: Help.', `instructions: Help., admins: [${CAST.admin}]`),
    replies: [{ text: 'Hello.' }, { text: 'Here again.' }, { text: 'Now I can.' }],
    timing: FAST,
    sweep: SWEEP,
  });
  const thread = story.ask('hello');
  await thread.shows(/Hello\./);
  // A call without a result, which no turn can go on from.
  const toolRequest = { name: 'lost', ref: 'lost', input: {} };
  const content = [{ toolRequest, idempotencyKey: 'lost' }];
  const threadId = threadIdOf({ channel: thread.channel, threadTs: thread.ts });
  const log = new Keys(story.prefix).log(threadId);
  await story.redis.rpush(log, JSON.stringify({ v: MESSAGE_VERSION, role: 'model', content }));
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/I can't continue this thread/);
  const told = story.repliesIn(thread).filter(({ text }) => /can't continue/.test(text));
  expect(told).toHaveLength(1);

  const other = story.ask('are you there?');
  await other.shows(/Here again\./);
  await story.directly(CAST.admin).shows(/is quarantined[\s\S]*countersign retry/);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.admin))).toHaveLength(1);

  const environment = { REDIS_URL: inject('redisUrl') };
  const listed = await run(['threads'], environment, story.prefix);
  expect(listed.out).toMatch(new RegExp(`${threadId}  The turn failed`));
  expect((await run(['doctor'], environment, story.prefix)).out).toContain(
    `threads: ${threadId} is quarantined`,
  );
  await story.redis.rpop(log);
  const released = await run(['retry', threadId], environment, story.prefix);
  expect(released).toMatchObject({ code: 0, out: `${threadId} is released\n` });
  await thread.shows(/Now I can\./);
  expect((await run(['threads'], environment, story.prefix)).out).toBe('No thread is quarantined.\n');
  expect((await run(['retry', threadId], environment, story.prefix)).code).toBe(1);
});
