import { expect, test } from 'vitest';
import { startStory } from './support.ts';

const TEXT = 'Two orders:\n\n| Order | Amount |\n| --- | ---: |\n| A-1 | 12 |\n| A-2 | 13 |\n\nThat is all.';
const typesOf = (blocks: readonly { type: string }[]) => blocks.map(({ type }) => type);

test.each([
  ['streamed', 300, 0],
  ['posted whole', 0, 99],
])('a table of an answer that is %s is a table in Slack, between its texts', async (_how, delayMs, calls) => {
  const story = await startStory({ replies: [{ text: TEXT.split(/(?<=\n)/), delayMs }] });
  if (calls > 0)
    story.workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls });
  const reply = await story.ask('which?').shows(/That is all\.|Two orders/);
  await story.workspace.until(() => typesOf(reply.blocks).includes('table'));
  expect(typesOf(reply.blocks).filter((type) => type !== 'context_actions')).toEqual([
    'markdown',
    'table',
    'markdown',
  ]);
});

test('where Slack refuses the table the answer arrives as Markdown, once', async () => {
  const story = await startStory({ replies: [{ text: [TEXT] }] });
  story.workspace.fail(
    'chat.postMessage',
    { kind: 'refuse', error: 'invalid_blocks' },
    { calls: 99, when: ({ blocks }) => String(blocks).includes('"table"') },
  );
  const reply = await story.ask('which?').shows(/That is all\./);
  expect(JSON.stringify(reply.blocks)).toContain('| A-1 | 12 |');
  expect(typesOf(reply.blocks)).not.toContain('table');
});
