import { expect, inject, test } from 'vitest';
import { run } from '../commands/support.ts';
import { startStory } from './support.ts';

test('doctor --cards asks Slack about the cards that wait, posts nothing, and says what Slack refuses', async () => {
  const story = await startStory({
    replies: [{ calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 40_000 } }] }],
  });
  const environment = {
    SLACK_BOT_TOKEN: story.slack.botToken,
    SLACK_API_URL: story.slack.apiUrl,
    REDIS_URL: inject('redisUrl'),
  };
  const cards = async () =>
    (await run(['doctor', '--cards', '--without-tools'], environment, story.prefix)).out
      .split('\n')
      .filter((line) => line.includes(' cards: '));
  expect(await cards()).toEqual(['-        cards: no request waits, so there is no card']);
  await story.ask('refund it').shows(/Approval needed/);
  const posted = story.workspace.state.messages.length;
  expect(await cards()).toEqual(['ok       cards: Slack takes those of 1 requests']);
  expect(story.workspace.state.messages).toHaveLength(posted);
  story.workspace.fail('blocks.validate', { kind: 'refuse', error: 'invalid_message' });
  expect(await cards()).toEqual([
    expect.stringMatching(/^FAILED {3}cards: Slack refuses the card of C0GENERAL1:.*: invalid_message$/),
  ]);
});
