import { expect, test } from 'vitest';
import { startStory } from './support.ts';

test('the record remembers its Slack workspace, and a bot of another one does not start on it', async () => {
  const story = await startStory({ replies: [], withoutBot: true });
  const key = `{${story.prefix}}:document:workspace|team`;
  const first = await story.startOwnBot();
  const team = (await story.redis.get(key))?.trim();
  expect(team).toMatch(/^T/);
  await first.stop();
  const again = await story.startOwnBot();
  await again.stop();
  await story.redis.set(key, 'T0OTHER\n');
  await expect(story.startOwnBot()).rejects.toThrow(
    `belongs to the Slack workspace T0OTHER, and the bot to ${team}`,
  );
  expect(await story.redis.get(key)).toBe('T0OTHER\n');
});
