import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMarkdown } from '../../../playground/web/src/blocks/text/parse-markdown.ts';
import { plainTextOf } from '../../../playground/web/src/blocks/text/passages.ts';
import { sanitizeMarkdown } from '../../../src/bot/views/sanitize-markdown.ts';
import { piecesIn } from '../../playground/web/blocks/reading.ts';
import { countFor } from '../../support/count-for.ts';

test.each([
  ['[the order](https://shop.example/?a=1&b=2)', 'the order (https://shop.example/?a=1&b=2)'],
  ['https://shop.example/?a=1&copy=2&lt;=3', 'https://shop.example/?a=1&copy=2&lt;=3'],
  ['Salt & pepper, AT&T, a&b', 'Salt & pepper, AT&T, a&b'],
  ['`a && b < c`', '`a && b &lt; c`'],
])('%j keeps its ampersands, so that addresses lead where they say', (text, shown) => {
  expect(sanitizeMarkdown(text)).toBe(shown);
});

test.each([
  ['Write &lt; for <', 'Write &amp;lt; for &lt;'],
  ['&#60;!channel&#x3e; &amp;', '&amp;#60;!channel&amp;#x3e; &amp;amp;'],
])('%j is shown as it is written, entities too', (text, shown) => {
  expect(sanitizeMarkdown(text)).toBe(shown);
});

test('a code block has no name of its language, which Slack would show as its first line', () => {
  expect(sanitizeMarkdown('```ts\nconst a = 1;\n```')).toBe('```\nconst a = 1;\n```');
});

test.each([
  ['**重要：**请看', '**重要**：请看'],
  ['**説明。**次へ', '**説明**。次へ'],
  ['太郎は**「こんにちわ」**といった', '太郎は「**こんにちわ**」といった'],
  ['请**（重要）**看', '请（**重要**）看'],
  ['**참고:**확인', '**참고**:확인'],
  ['a **b:** c', 'a **b:** c'],
  ['**重要**（说明）和**另一**（说明）', '**重要**（说明）和**另一**（说明）'],
  ['这是**重要**的', '这是**重要**的'],
  ['`**a：**b`', '`**a：**b`'],
])('bold beside Chinese, Japanese and Korean ends where Markdown sees its end: %j', (text, shown) => {
  expect(sanitizeMarkdown(text)).toBe(shown);
});

/** What an attack is made of: markup of Slack, links, entities and what may take them apart. */
const part = fc.constantFrom(
  ...[
    '<',
    '>',
    '&',
    ';',
    '&lt;',
    '&gt;',
    '&amp;',
    '&#60;',
    '&#x3C;',
    '&lbrack;',
    '&lpar;',
    '!',
    '|',
    '\\',
    '`',
    '```',
    '\n',
  ],
  ...[
    '<!channel>',
    '<@U0ALICE002>',
    '<#C0LOCAL>',
    '<https://evil.example|bank>',
    '[bank](https://evil.example)',
    '[',
    ']',
    '(',
    ')',
  ],
  ...[
    'https://bank.example/?a=1',
    'https://',
    'mailto:',
    'a',
    ' ',
    '**',
    '：',
    '重',
    '[a]: https://evil.example',
    '![x](https://evil.example/p.png)',
  ],
);

test('no mention, no hidden link and no picture of a reply comes alive, whatever it is made of', () => {
  const attack = fc.array(part, { minLength: 1, maxLength: 30 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(attack, (text) => {
      const alive = piecesIn(parseMarkdown(sanitizeMarkdown(text))).filter(
        (piece) =>
          ['user', 'group', 'channel', 'broadcast', 'date', 'image'].includes(piece.kind) ||
          (piece.kind === 'link' && plainTextOf(piece.content) !== piece.url),
      );
      expect(alive).toEqual([]);
      // Slack's own markup begins with this sign, and addresses do not hold it.
      expect(sanitizeMarkdown(text)).not.toContain('<');
    }),
    { numRuns: countFor('REPLY_ATTACKS', { quick: 500, full: 20_000 }) },
  );
});
