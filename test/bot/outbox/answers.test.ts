import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMarkdown } from '../../../playground/web/src/blocks/text/parse-markdown.ts';
import { type Inline, type Passage, plainTextOf } from '../../../playground/web/src/blocks/text/passages.ts';
import { replyRows } from '../../../src/bot/outbox/reply-rows.ts';
import { sanitizableLength, sanitizeMarkdown } from '../../../src/bot/views/sanitize-markdown.ts';
import { countFor } from '../../support/count-for.ts';

const turn = { threadId: 'C0GENERAL:1.1', token: '1', messages: [], inbox: [], settled: [] };

/** A piece of an answer: its Markdown, and the code that people have to see, inline and in blocks. */
interface Piece {
  readonly text: string;
  readonly inline: readonly string[];
  readonly lines: readonly string[];
}

const prose = fc
  .array(
    fc.constantFrom(
      'some words',
      'an index list[0](x)',
      'a lone ` backtick',
      'a \\` typed one',
      '**bold**',
      '[https://bank.example](https://evil.example)',
      '![https://bank.example](https://evil.example "title")',
      '[bank',
      'https://bank.example](https://evil.example)',
      '[bank]: https://evil.example',
      '[bank][bank]',
      '<@U0ALICE002>',
      'a | b',
      '~~~',
      '',
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(' '));

const codeText = fc
  .array(
    fc.constantFrom(
      'list[0](x)',
      '{ [key]: v }',
      '](https://evil.example)',
      '[a',
      '<b>',
      '&amp;',
      'x',
      '  ',
      '``',
      '|',
      '*',
      '\\',
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => `c${parts.join('')}d`);

const span = fc
  .tuple(codeText, fc.constantFrom('`', '```'))
  .map(([code, ticks]) => ({ text: `${ticks}${code}${ticks}`, code }));

const paragraph: fc.Arbitrary<Piece> = fc
  .array(fc.tuple(prose, span), { minLength: 1, maxLength: 3 })
  // A lone backtick before a span would pair with it.
  .map((parts) => parts.map(([words, { text, code }]) => ({ words: words.replaceAll('`', ''), text, code })))
  .map((parts) => ({
    text: parts.map(({ words, text }) => `w ${words} ${text}`).join(' '),
    inline: parts.map(({ code }) => code),
    lines: [],
  }));

// Two backticks on a line would be code.
const words: fc.Arbitrary<Piece> = prose
  .map((text) => `w ${text}`.replace(/(?<=`.*)`/g, ''))
  .map((text) => ({ text, inline: [], lines: [] }));

const table: fc.Arbitrary<Piece> = fc.array(span, { minLength: 1, maxLength: 3 }).map((spans) => {
  const cells = spans.map(({ text, code }) => ({
    text: text.replaceAll('|', ''),
    code: code.replaceAll('|', ''),
  }));
  return {
    text: `| name | code |\n|---|---|\n${cells.map(({ text }) => `| x | ${text} |`).join('\n')}`,
    inline: cells.map(({ code }) => code),
    lines: [],
  };
});

const block: fc.Arbitrary<Piece> = fc
  .record({
    lines: fc.array(
      fc.oneof(
        codeText,
        codeText.map((code) => `    ${code}`),
        fc.constantFrom(
          '',
          '[https://bank.example](https://evil.example)',
          '    ```',
          '- item',
          '> quote',
          '|---|',
        ),
      ),
      { minLength: 1, maxLength: 8 },
    ),
    marker: fc.constantFrom('```', '````', '~~~'),
    info: fc.constantFrom('', 'js', 'c++'),
    prefix: fc.constantFrom('', '   ', '> ', '> > '),
    repeat: fc.constantFrom(1, 1, 1, 60, 300),
    before: fc.constantFrom('', '1. a step:\n', 'words before\n'),
  })
  .map(({ lines, marker, info, prefix, repeat, before }) => {
    const code = Array.from({ length: repeat }, () => lines).flat();
    const all = [`${marker}${info}`, ...code, marker];
    return { text: `${before}${all.map((line) => `${prefix}${line}`).join('\n')}`, inline: [], lines: code };
  });

const answer: fc.Arbitrary<Piece> = fc
  .array(fc.oneof(paragraph, words, table, block), { minLength: 1, maxLength: 8 })
  .map((pieces) => ({
    text: pieces.map(({ text }) => text).join('\n\n'),
    inline: pieces.flatMap(({ inline }) => inline),
    lines: pieces.flatMap(({ lines }) => lines),
  }));

/** An answer after so many words that a message may end anywhere in it. */
const longAnswer: fc.Arbitrary<Piece> = fc
  .tuple(fc.integer({ min: 8_300, max: 9_000 }), answer)
  .map(([length, { text, ...code }]) => {
    const before = 'word '.repeat(1_800).slice(-length);
    return { text: `${before}${text.startsWith('w ') ? '' : '\n\n'}${text}`, ...code };
  });

/** Streams a text as it grows, and returns what was shown of it. Nothing that was shown may change. */
function stream(text: string, cuts: readonly number[]): { readonly sent: number; readonly shown: string } {
  let sent = 0;
  let shown = '';
  for (const length of cuts.map((cut) => cut % (text.length + 1)).sort((one, other) => one - other)) {
    const grown = text.slice(0, length);
    const until = sanitizableLength(grown);
    if (until <= sent || until > 9_000) continue;
    const now = sanitizeMarkdown(grown, until);
    if (now.length > 11_500) continue;
    expect(now.startsWith(shown)).toBe(true);
    sent = until;
    shown = now;
  }
  return { sent, shown };
}

/** Returns the messages as Slack shows them in the end: streamed in part, or posted whole. */
function delivered(text: string, cuts: readonly number[]): string[] {
  const { sent, shown } = stream(text, cuts);
  const posted = sent === 0 ? undefined : { ts: '1.2', sent };
  const texts = replyRows(turn, text, posted, { session: 'active', requester: 'U1' }).map(({ body }) =>
    String(body.text),
  );
  const [first = '', ...others] = texts.map((part) => sanitizeMarkdown(part));
  expect(first.startsWith(shown)).toBe(true);
  return [first, ...others];
}

function inlinesOf(passage: Passage): readonly Inline[] {
  switch (passage.kind) {
    case 'paragraph':
    case 'heading':
    case 'preformatted':
      return passage.content;
    case 'quote':
      return passage.content.flatMap(inlinesOf);
    case 'list':
      return passage.items.flatMap(({ content }) => content.flatMap(inlinesOf));
    case 'table':
      return [...passage.head, ...passage.rows.flat()].flat();
    case 'rule':
      return [];
  }
}

const flat = (inline: Inline): readonly Inline[] =>
  inline.kind === 'styled' ? inline.content.flatMap(flat) : [inline];

function blocksOf(passage: Passage): readonly string[] {
  if (passage.kind === 'preformatted') return [plainTextOf(passage.content)];
  if (passage.kind === 'quote') return passage.content.flatMap(blocksOf);
  return passage.kind === 'list' ? passage.items.flatMap(({ content }) => content.flatMap(blocksOf)) : [];
}

const runs = { numRuns: countFor('ANSWERS', { quick: 150, full: 2_000 }) };
const anyAnswer = fc.oneof({ weight: 7, arbitrary: answer }, { weight: 1, arbitrary: longAnswer });
const cutList = fc.oneof(fc.constant([]), fc.array(fc.nat(), { maxLength: 30 }));

describe('a random answer, in one message or several, streamed or not', () => {
  test('keeps its code unchanged and whole, and no link lies', () => {
    fc.assert(
      fc.property(anyAnswer, cutList, ({ text, inline, lines }, cuts) => {
        const messages = delivered(text, cuts);
        for (const message of messages) expect(message.length).toBeLessThanOrEqual(12_000);
        const passages = messages.flatMap((message) => parseMarkdown(message));
        const inlines = passages.flatMap(inlinesOf).flatMap(flat);
        for (const piece of inlines)
          if (piece.kind === 'link') expect(plainTextOf(piece.content)).toBe(piece.url);
        expect(inlines.some(({ kind }) => kind === 'user')).toBe(false);
        if (messages.length > 10) return;
        const code = inlines.flatMap((piece) => (piece.kind === 'code' ? [piece.text] : []));
        expect(code).toEqual(inline);
        expect(passages.flatMap(blocksOf).flatMap((shown) => shown.split('\n'))).toEqual(lines);
      }),
      runs,
    );
  });
});

test.each([
  ['inline', 'Use `list[0](x)` and `{ [key]: v }`.', 'Use `list[0](x)` and `{ [key]: v }`.'],
  ['in a block', '```js\nlist[0](x)\n```', '```\nlist[0](x)\n```'],
  ['in a block that is not closed', '```js\nlist[0](x)', '```\nlist[0](x)\n```'],
  ['in a step of a list', '1. Run:\n   ```sh\n   a[0](b)\n   ```', '1. Run:\n```\na[0](b)\n```'],
])('code %s is delivered as it is', (_where, text, shown) => {
  expect(sanitizeMarkdown(text)).toBe(shown);
});

test.each([
  ['a link', '[https://bank.example](https://evil.example)', 'https://bank.example (https://evil.example)'],
  ['a link after a lone backtick', '` [a](https://evil.example)', 'ˋ a (https://evil.example)'],
  [
    'a link between lone backticks of two lines',
    'a `\n[a](https://evil.example)\n`',
    'a ˋ\na (https://evil.example)\nˋ',
  ],
  [
    'a link in a code span that a table cell ends',
    '|a|b|\n|-|-|\n|`x|[a](https://evil.example)`|',
    '|a|b|\n|-|-|\n|ˋx|a (https://evil.example)ˋ|',
  ],
])('%s shows where it leads', (_what, text, shown) => {
  expect(sanitizeMarkdown(text)).toBe(shown);
});
