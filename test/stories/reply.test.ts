import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const callsOf = (story: Awaited<ReturnType<typeof startStory>>, method: string) =>
  story.workspace.calls.filter((call) => call.method === method && call.response.ok === true);

test('a reply is streamed, and in the end the message has the whole text once', async () => {
  const deltas = ['It began ', 'with a small ', 'thing, ', 'and then ', 'it grew ', 'and grew.'];
  // On a busy machine all could be said before Slack has been told anything.
  const before = (chunk: number) => {
    if (chunk === 2) return called('chat.startStream');
    return chunk === deltas.length ? called('chat.appendStream') : undefined;
  };
  const story = await startStory({ replies: [{ text: deltas, before }] });
  const called = (method: string) =>
    story.workspace.until(() => callsOf(story, method).length > 0, { what: method });
  const thread = story.ask('tell me a story');
  const reply = await thread.shows(/and grew\./);
  await story.workspace.until(() => reply.stream?.state === 'completed', { what: 'the end of the stream' });
  expect(reply.text).toBe(deltas.join(''));
  expect(story.repliesIn(thread)).toHaveLength(1);
  expect(callsOf(story, 'chat.startStream')).toHaveLength(1);
  expect(callsOf(story, 'chat.appendStream').length).toBeGreaterThan(0);
  expect(callsOf(story, 'chat.stopStream')).toHaveLength(1);
  expect(callsOf(story, 'chat.postMessage')).toHaveLength(0);
});

test('where streaming is refused the reply comes whole, with what was said before a tool ran', async () => {
  const story = await startStory({
    replies: [
      { text: ['Let me ', 'look. '], calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }] },
      { text: ['A standing ', 'desk.'] },
    ],
  });
  story.workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls: 99 });
  const thread = story.ask('what is order A-1001?');
  const reply = await thread.shows(/A standing desk\./);
  expect(reply.text).toBe('Let me look. \n\nA standing desk.');
  expect(story.repliesIn(thread)).toHaveLength(1);
  expect(callsOf(story, 'chat.postMessage')).toHaveLength(1);
});

test('a stream that breaks off is completed where it stands', async () => {
  const deltas = ['One two ', 'three four ', 'five six ', 'seven.'];
  const before = (chunk: number) => {
    if (chunk === 2) return called('chat.startStream');
    return chunk === deltas.length ? called('chat.appendStream') : undefined;
  };
  const story = await startStory({ replies: [{ text: deltas, before }] });
  const called = (wanted: string) =>
    story.workspace.until(({ calls }) => calls.some(({ method }) => method === wanted), { what: wanted });
  story.workspace.fail('chat.appendStream', { kind: 'refuse', error: 'internal_error' }, { calls: 99 });
  const thread = story.ask('count');
  const reply = await thread.shows(/seven\./);
  expect(reply.text).toBe(deltas.join(''));
  expect(story.repliesIn(thread)).toHaveLength(1);
});

test('a reply longer than a message comes in several, each word once', async () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `word${index}${index % 50 === 0 ? '\n' : ' '}`);
  const deltas = [words.slice(0, 1_115), words.slice(1_115)].map((part) => part.join(''));
  const story = await startStory({ replies: [{ text: deltas, delayMs: 200 }] });
  const thread = story.ask('tell me everything');
  await thread.shows(/word1999/);
  const shown = story
    .repliesIn(thread)
    .map(({ text }) => text)
    .join(' ');
  expect(shown.split(/\s+/).filter((word) => word !== '')).toEqual(words.map((word) => word.trim()));
  expect(story.repliesIn(thread).length).toBeGreaterThan(1);
});

const HOSTILE = [
  `Hello <@${CAST.alice}> and <!channel>, see [the docs](https://evil.example/a), `,
  '<https://evil.example/b|our site>, [nested [brackets]](https://evil.example/c), ',
  '[escaped \\] bracket](https://evil.example/d), [over two\nlines](https://evil.example/e), ',
  '![a picture](https://evil.example/f), [by name][x].\n\n[x]: https://evil.example/g\n> [y]: https://evil.example/h\n',
  '**Bold** stays & the rest <b>too</b>.',
];

test.each([
  { how: 'streamed', refuse: false },
  { how: 'posted whole', refuse: true },
])(
  'mentions, masked links and unfurls in the words of the model arrive harmless when $how',
  async ({ refuse }) => {
    const story = await startStory({ replies: [{ text: HOSTILE, delayMs: 150 }] });
    if (refuse)
      story.workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls: 99 });
    const thread = story.ask('hello');
    const { text } = await thread.shows(/the rest/);

    expect(text).not.toContain('<');
    expect(text).toContain(`&lt;@${CAST.alice}> and &lt;!channel>`);
    expect(text).toContain('the docs (https://evil.example/a)');
    // A link's text or name ends with a bracket right before its target.
    expect(text).not.toMatch(/\][(:]/);
    for (const letter of 'abcdefgh') expect(text).toContain(`https://evil.example/${letter}`);
    expect(text).toContain('**Bold** stays & the rest');
    // Slack unfurls what is posted, and nothing of a stream.
    const posted = callsOf(story, 'chat.postMessage');
    expect(posted.length > 0).toBe(refuse);
    for (const { arguments: given } of posted)
      expect(given).toMatchObject({ unfurl_links: 'false', unfurl_media: 'false' });
  },
);

test.each([
  { how: 'streamed', refuse: false },
  { how: 'posted whole', refuse: true },
])(
  'code in an answer that is $how arrives as it was written, without the name of its language',
  async ({ refuse }) => {
    const deltas = [
      'Call `list[0](x)` ',
      'and then:\n\n```js\nconst { [ke',
      'y]: v } = f[0](x);\n``',
      '`\n\nDone.',
    ];
    const story = await startStory({ replies: [{ text: deltas, delayMs: refuse ? 0 : 300 }] });
    if (refuse)
      story.workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls: 99 });
    const reply = await story.ask('how?').shows(/Done\./);
    expect(reply.text).toBe(deltas.join('').replace('js', ''));
  },
);

test('an answer of white space gets a sentence', async () => {
  const story = await startStory({ replies: [{ text: ' \n\n ' }] });
  await story.ask('hello?').shows(/I don't have an answer to this/);
});
