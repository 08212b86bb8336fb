import { expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const withBudgets = (budgets: string) =>
  MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}], model: { budgets: { ${budgets} } },`);
const usage = (tokens: number) => ({ promptTokens: tokens - 10, completionTokens: 10 });
const says = (text: string, tokens: number): ModelReply => ({ text, usage: usage(tokens) });
const look = { name: 'read_order', arguments: { orderId: 'A-1001' } };
const LOOKED: ModelReply = { calls: [look], usage: usage(500) };

test('a task that has used its tokens stops before the next call of the model, and says so', async () => {
  const story = await startStory({
    manifest: withBudgets('per_turn: 900'),
    replies: [LOOKED, LOOKED, says('Hi.', 100)],
  });
  await story.ask('look at A-1001 many times').shows(/This task has used up its tokens/);
  expect(story.model.requests).toHaveLength(2);
  await story.ask('hi').shows(/Hi\./);
});

test.each([
  ['per_person', /You have used all tokens for today\. I can continue after midnight UTC/],
  ['per_thread', /This thread has used all tokens for today/],
  ['per_day', /I have used all tokens for today/],
])(
  '%s: what is spent is known to all processes, people are told when it opens again, and admins at 80 and 100 %',
  async (budget, words) => {
    const story = await startStory({
      manifest: withBudgets(`${budget}: 1000`),
      replies: [says('One.', 850), says('Two.', 200)],
    });
    const thread = story.ask('one');
    await thread.shows(/One\./);
    await story.directly(CAST.admin).shows(/token budget of .* is at 85% \(850 of 1000\)/);
    await story.startOwnBot();
    story.ask('two', { threadTs: thread.ts });
    await thread.shows(/Two\./);
    await story.directly(CAST.admin).shows(/is at 105%/);
    story.ask('three', { threadTs: thread.ts });
    await thread.shows(words);
    expect(story.model.requests).toHaveLength(2);
    const told = story.workspace.messagesIn(story.workspace.directMessages(CAST.admin));
    expect(told.filter(({ text }) => /token budget/.test(text))).toHaveLength(2);
  },
);

test('one who has spent nothing is not held up by another', async () => {
  const story = await startStory({
    manifest: withBudgets('per_person: 1000'),
    replies: [says('One.', 1_200), says('Two.', 200)],
  });
  await story.ask('one').shows(/One\./);
  await story.ask('more').shows(/You have used all tokens/);
  await story.ask('two', { as: CAST.alice }).shows(/Two\./);
});
