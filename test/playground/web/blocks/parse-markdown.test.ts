import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMarkdown } from '../../../../playground/web/src/blocks/text/parse-markdown.ts';
import { outline, piecesIn } from './reading.ts';

const read = (text: string) => outline(parseMarkdown(text));

describe('Markdown', () => {
  test.each([
    [
      '**bold** *italic* __bold__ _italic_ ~~gone~~',
      'bold(bold) italic(italic) bold(bold) italic(italic) strike(gone)',
    ],
    ['***both***', 'bold(italic(both))'],
    ['`a *b*` ``c ` d``', 'code(a *b*) code(c ` d)'],
    ['[a **b**](https://a.example "title")', 'link(https://a.example a bold(b))'],
    ['![chart](https://a.example/c.png)', 'link(https://a.example/c.png chart)'],
    ['\\*not\\* \\[x\\](y)', '*not* [x](y)'],
    ['one\ntwo\n\nthree', 'one⏎two | three'],
    ['## Title ##\ntext', 'h2(Title) | text'],
    ['- a\n- b\n  - c\n- d', 'ul(a; b | ul(c); d)'],
    ['3. a\n4. b', 'ol3(a; b)'],
    ['1. a\n   more\n\n   second\n2. b', 'ol1(a⏎more | second; b)'],
    ['- [ ] open\n- [x] done', 'ul([ ] open; [x] done)'],
    ['> a\n> > b', 'quote(a | quote(b))'],
    ['```ts\nconst a = 1 < 2;\n**x**\n```\nafter', 'pre(const a = 1 < 2;\n**x**) | after'],
    ['```\nnot closed', 'pre(not closed)'],
    ['```a``` b\n\n`c`', 'code(a) b | code(c)'],
    ['`a` [b](https://a.example) `c`', 'code(a) link(https://a.example b) code(c)'],
    ['a | b\n--|:-:\n1 | 2', 'table(a,b; 1,2)'],
    ['a\n\n---\n\nb', 'a | rule | b'],
    ['<@U1> :tada: <https://a.example>', 'user(U1) emoji(tada) link(https://a.example https://a.example)'],
  ])('%j is read as %j', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    '**open',
    '`open',
    '[a](b',
    '[a](javascript:alert(1))',
    '[a](data:text/html,x)',
    '<b>html</b>',
    '<script>alert(1)</script>',
    'snake_case_name',
    '1 * 2 * 3',
    'a **** b',
    '#hashtag',
  ])('%j stays the text that it is', (text) => {
    expect(read(text)).toBe(text);
  });

  test('escaped text is shown and not parsed', () => {
    expect(read('&lt;@U1> &lt;!here> `&lt;b>` &amp;lt;')).toBe('<@U1> <!here> code(<b>) &lt;');
  });

  test('lists and quotes that are deeper than anybody follows become text', () => {
    const depth = (text: string) => read(text).match(/quote\(/g)?.length ?? 0;
    expect(depth(`${'> '.repeat(500)}end`)).toBeLessThan(20);
    expect(read(`${'> '.repeat(500)}end`)).toContain('end');
  });
});

test('any text yields only safe links and loses no character', () => {
  const parts = [
    '*',
    '**',
    '_',
    '`',
    '```',
    '[',
    ']',
    '(',
    ')',
    '](',
    '|',
    '-|-',
    '\n',
    '\n\n',
    '  ',
    '- ',
    '1. ',
  ];
  const text = fc
    .array(fc.constantFrom(...parts, '> ', '# ', 'a', 'b', '\\', '<', '>', 'javascript:', 'https://c'), {
      maxLength: 30,
    })
    .map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (markdown) => {
      const pieces = piecesIn(parseMarkdown(markdown));
      for (const piece of pieces) if (piece.kind === 'link') expect(piece.url).toMatch(/^https:/);
      const shown = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
      const isLinked = pieces.some((piece) => piece.kind === 'link');
      // The first line of a fence names a language, and a table drops what its head has no column for.
      if (!isLinked && !markdown.includes('```') && !markdown.includes('|'))
        expect(shown.replace(/[^ab]/g, '')).toBe(markdown.replace(/[^ab]/g, ''));
    }),
  );
});

test.each(['*a ', '**', '_', '[', '[a](', '`', '``` ', '- ', '> ', '| - ', '  - a\n', '> \n', '\n\n'])(
  'a block full of %j is read to its end',
  (piece) => {
    expect(read(`${piece.repeat(12_000 / piece.length)}\n\nend`)).toContain('end');
  },
);
