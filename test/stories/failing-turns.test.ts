import { expect, onTestFinished, test, vi } from 'vitest';
import { startBot } from '../../src/start-bot.ts';
import { startStory } from './support.ts';

const SWEEP = { everyMs: 50, overdueMs: 0 };

test('a thread whose turns keep failing is quarantined, and people are told in the thread', async () => {
  const story = await startStory({ withoutBot: true, sweep: SWEEP, replies: [] });
  const bot = await startBot(story.setup);
  onTestFinished(() => bot.stop());
  // A bug in a part of the turn, as no real part has it.
  vi.spyOn(bot.context.toolbox, 'notice').mockImplementation(() => {
    throw new TypeError('a bug');
  });
  const thread = story.ask('hello');
  await thread.shows(/I can't continue this thread/);
  expect(thread).toBeDefined();
}, 180_000);
