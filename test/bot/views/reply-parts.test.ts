import { expect, test } from 'vitest';
import { checkBlocks } from '../../../playground/slack/block-kit/check-blocks.ts';
import { replyParts } from '../../../src/bot/views/reply-parts.ts';
import { sanitizableLength, sanitizeMarkdown } from '../../../src/bot/views/sanitize-markdown.ts';

const TABLE =
  '| Order | Amount |\n| --- | ---: |\n| A-1 | **12 €** |\n| `a \\| b` | https://shop.example/?a=1&b=2 |';

test('a Markdown table becomes a table of Slack, between the texts before and after it', () => {
  const parts = replyParts(sanitizeMarkdown(`Two orders:\n\n${TABLE}\n\nThat is all.`));
  expect(parts.map(({ text }) => text)).toEqual(['Two orders:\n\n', `${TABLE}\n`, '\nThat is all.']);
  const [, { table } = {}] = parts;
  expect(checkBlocks([table])).toEqual([]);
  expect(table?.column_settings?.map(({ align }) => align)).toEqual(['left', 'right']);
  expect(table?.rows.slice(1)).toEqual([
    [{ type: 'raw_text', text: 'A-1' }, rich({ type: 'text', text: '12 €', style: { bold: true } })],
    [
      rich({ type: 'text', text: 'a | b', style: { code: true } }),
      rich({ type: 'link', url: 'https://shop.example/?a=1&b=2' }),
    ],
  ]);
});

function rich(element: object) {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [element] }] };
}

test('nothing in a cell comes alive, and its words are shown as they are written', () => {
  const cells = ['<!channel>', '[bank](https://evil.example)', 'a & b &lt; c', '<@U0ALICE002>', ':tada:'];
  const markdown = sanitizeMarkdown(`| x |\n|---|\n${cells.map((cell) => `| ${cell} |`).join('\n')}`);
  const [{ table } = {}] = replyParts(markdown);
  const shown = table?.rows.slice(1).map(([cell]) => cell);
  expect(shown).toEqual([
    { type: 'raw_text', text: '<!channel>' },
    rich({ type: 'text', text: 'bank (' }).elements[0] && {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'bank (' },
            { type: 'link', url: 'https://evil.example' },
            { type: 'text', text: ')' },
          ],
        },
      ],
    },
    { type: 'raw_text', text: 'a & b &lt; c' },
    { type: 'raw_text', text: '<@U0ALICE002>' },
    { type: 'raw_text', text: ':tada:' },
  ]);
});

test.each([
  ['in a code block', `\`\`\`\n${TABLE}\n\`\`\``],
  ['in a quote', TABLE.replaceAll(/^/gm, '> ')],
  ['with a line of dashes that does not fit', '| a | b |\n|---|\n| c | d |'],
  ['with too many rows for Slack', `| a |\n|---|\n${'| b |\n'.repeat(100)}`],
  ['with too many columns for Slack', `|${' a |'.repeat(21)}\n|${'---|'.repeat(21)}`],
  ['with too many characters for Slack', `| a |\n|---|\n${`| ${'b'.repeat(1_200)} |\n`.repeat(9)}`],
])('a table %s stays Markdown', (_where, text) => {
  expect(replyParts(sanitizeMarkdown(text)).map(({ table }) => table)).toEqual([undefined]);
});

test('a table that is being written is not shown before its end, wherever the answer is cut', () => {
  const whole = `Two orders:\n\n${TABLE}\n\nThat is all, a | b.\n\n${TABLE}`;
  const all = replyParts(sanitizeMarkdown(whole));
  expect(all.filter(({ table }) => table !== undefined)).toHaveLength(2);
  for (let length = 0; length <= whole.length; length += 1) {
    const until = sanitizableLength(whole.slice(0, length));
    const sent = sanitizeMarkdown(whole, until);
    const parts = [...replyParts(sent), ...replyParts(sanitizeMarkdown(whole), sent.length)];
    expect(parts.map(({ text }) => text).join('')).toBe(sanitizeMarkdown(whole));
    expect(parts.flatMap(({ table }) => table ?? [])).toEqual(all.flatMap(({ table }) => table ?? []));
  }
});
