import { expect, test } from 'vitest';
import { startStory } from '../../stories/support.ts';

const DELTAS = [
  'See invoice\u202E',
  'fdp.exe ',
  'of \uD83D',
  '\uDC68\u200D',
  '\uD83D\uDC69 and pay',
  '\u200B',
  'pal \uDB40',
  '\uDC41, می',
  '\u200C',
  'خواهم, done.',
];
const SHOWN = 'See invoice\\u{202e}fdp.exe of 👨‍👩 and pay\\u{200b}pal \\u{e0041}, می\u200Cخواهم, done.';

test.each([
  { how: 'streamed', refuse: false },
  { how: 'posted whole', refuse: true },
])(
  'what the model hides in its words is seen when they are $how, however they are cut',
  async ({ refuse }) => {
    const story = await startStory({ replies: [{ text: DELTAS, delayMs: 100 }] });
    if (refuse)
      story.workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls: 99 });
    const reply = await story.ask('hello').shows(/done\./);
    expect(reply.text).toBe(SHOWN);
  },
);
