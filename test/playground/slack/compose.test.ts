import { expect, test } from 'vitest';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { connected, events, slackForTest } from './support.ts';

const { general, releases } = CHANNELS;

/** Returns the text and rich text elements of a message that Alice types. */
async function typed(text: string): Promise<{ text: string; elements: unknown }> {
  const slack = await slackForTest();
  const message = slack.workspace.as(CAST.alice).send(general, text);
  const [section] = (message.blocks[0]?.elements ?? []) as JsonObject[];
  return { text: message.text, elements: section?.elements };
}

test('the three characters of Slack markup are escaped in the text and plain in the blocks', async () => {
  expect(await typed('a < b && b > c')).toEqual({
    text: 'a &lt; b &amp;&amp; b &gt; c',
    elements: [{ type: 'text', text: 'a < b && b > c' }],
  });
});

test('escaped text is escaped again', async () => {
  expect((await typed('&lt;')).text).toBe('&amp;lt;');
});

test.each([
  [`<@${CAST.bruno}>`, `<@${CAST.bruno}>`, { type: 'user', user_id: CAST.bruno }],
  [`<#${general}>`, `<#${general}|general>`, { type: 'channel', channel_id: general }],
  [`<#${releases}>`, `<#${releases}|>`, { type: 'channel', channel_id: releases }],
  [
    `<!subteam^${APPROVERS_GROUP}>`,
    `<!subteam^${APPROVERS_GROUP}>`,
    { type: 'usergroup', usergroup_id: APPROVERS_GROUP },
  ],
  ['<!here>', '<!here>', { type: 'broadcast', range: 'here' }],
  [
    'https://a.example/?a=1&b=2',
    '<https://a.example/?a=1&amp;b=2>',
    { type: 'link', url: 'https://a.example/?a=1&b=2' },
  ],
  [
    '<https://a.example|here & now>',
    '<https://a.example|here &amp; now>',
    { type: 'link', url: 'https://a.example', text: 'here & now' },
  ],
  [
    'ada@a.example',
    '<mailto:ada@a.example|ada@a.example>',
    { type: 'link', url: 'mailto:ada@a.example', text: 'ada@a.example' },
  ],
])('%s becomes %s', async (given, text, element) => {
  expect(await typed(given)).toEqual({ text, elements: [element] });
});

test('unknown people cannot be mentioned, and other angle brackets stay text', async () => {
  const given = '<@U0NOBODY01> <#C0NOWHERE1> <!subteam^S0NOBODY1> <script>';
  expect(await typed(given)).toEqual({
    text: given.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    elements: [{ type: 'text', text: given }],
  });
});

test('a link ends before the full stop, and the text around it is plain', async () => {
  expect(await typed('see https://a.example/x.')).toEqual({
    text: 'see <https://a.example/x>.',
    elements: [
      { type: 'text', text: 'see ' },
      { type: 'link', url: 'https://a.example/x' },
      { type: 'text', text: '.' },
    ],
  });
});

test('the app gets the escaped text of a message and of its edit', async () => {
  const { workspace, client } = await connected();
  const said = workspace.as(CAST.alice).send(general, 'a & b');
  workspace.as(CAST.alice).edit(said, 'a < b');
  await workspace.until(() => client.envelopes.length === 2);
  expect(events(client)).toMatchObject([{ text: 'a &amp; b' }, { message: { text: 'a &lt; b' } }]);
});
