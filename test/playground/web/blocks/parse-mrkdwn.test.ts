import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMrkdwn } from '../../../../playground/web/src/blocks/text/parse-mrkdwn.ts';
import { nonEmpty } from '../../../support/non-empty.ts';
import { outline, piecesIn } from './reading.ts';

const read = (text: string) => outline(parseMrkdwn(text));
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

describe("Slack's own markup", () => {
  test.each([
    ['*bold* _italic_ ~strike~', 'bold(bold) italic(italic) strike(strike)'],
    ['*a _b ~c~_*', 'bold(a italic(b strike(c)))'],
    ['`code *x* &lt;`', 'code(code *x* <)'],
    ['```pre *x* <@U1>\nmore```', 'pre(pre *x* <@U1>\nmore)'],
    ['before\n```\ncode\n```\nafter', 'before | pre(code) | after'],
    ['> one\n> two\nthree', 'quote(one⏎two) | three'],
    ['&gt; a quote', 'quote(a quote)'],
    ['>>> all\nof it', 'quote(all⏎of it)'],
    ['- no\n1. list', '- no⏎1. list'],
    ['# no heading', '# no heading'],
    [':tada: at 12:30:45, :nonsense:', 'emoji(tada) at 12:30:45, :nonsense:'],
    [':x::tada:', 'emoji(x)emoji(tada)'],
    ['see https://a.example/b_c_d.', 'see link(https://a.example/b_c_d https://a.example/b_c_d).'],
    ['*https://a.example/x*', 'bold(link(https://a.example/x https://a.example/x))'],
  ])('%j is read as %j', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['<@U1> <@W2|wendy>', 'user(U1) user(W2)'],
    ['<#C1|general> <#D1>', 'channel(C1) channel(D1)'],
    ['<!here> <!channel> <!everyone>', 'broadcast(here) broadcast(channel) broadcast(everyone)'],
    ['<!subteam^S1|@team>', 'group(S1)'],
    ['<https://a.example|a &amp; b>', 'link(https://a.example a & b)'],
    ['<https://a.example/?a=1&amp;b=2>', 'link(https://a.example/?a=1&b=2 https://a.example/?a=1&b=2)'],
    ['<mailto:a@example.com|mail>', 'link(mailto:a@example.com mail)'],
    ['<!date^1392734382^{date} at {time}|some day>', 'date(1392734382 {date} at {time} some day)'],
    ['*<https://a.example/*x*|a>*', 'bold(link(https://a.example/*x* a))'],
  ])('%j is read as %j', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe('text without markup is unchanged', () => {
  test.each([
    ['*open', '_open', '~open', '`open', '```open', '<@U1', '*', '**', '``````', '* a *', '*a\nb*'],
    ['snake_case_name', '2*3*4', '**bold**', 'a*b*', '*a*b', '<b>html</b>', '<@nobody>', '<!nonsense>', '<>'],
    [
      '<javascript:alert(1)|click>',
      '<data:text/html,x|click>',
      '<JavaScript:alert(1)>',
      '<//evil.example|x>',
    ],
  ])('%j and its like', (...texts) => {
    for (const text of nonEmpty(texts)) expect(read(text)).toBe(text.replaceAll('\n', '⏎'));
  });

  test('a verbatim text has no links that it does not mark itself', () => {
    const passages = parseMrkdwn('https://a.example <https://b.example>', { isVerbatim: true });
    expect(outline(passages)).toBe('https://a.example link(https://b.example https://b.example)');
  });

  test('escaped text never mentions anybody and never links to what it does not show', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const piece of piecesIn(parseMrkdwn(escaped(text)))) {
          expect(['text', 'break', 'styled', 'code', 'emoji', 'link']).toContain(piece.kind);
          if (piece.kind === 'link') expect(piece.content).toEqual([{ kind: 'text', text: piece.url }]);
        }
      }),
    );
  });
});

test('no character of any text is lost or added', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const letters = (value: string) => value.replace(/[^a-z]/g, '');
      const shown = piecesIn(parseMrkdwn(escaped(text)))
        .map((piece) => {
          if (piece.kind === 'text' || piece.kind === 'code') return piece.text;
          return piece.kind === 'emoji' ? piece.name : '';
        })
        .join('');
      expect(letters(shown)).toBe(letters(text));
    }),
  );
});

test.each(['*a ', '_', '<', '<@', '`', '```', '~~', '> ', '&gt;', ':a', 'https://)', '*_~`<'])(
  'a message full of %j is read to its end',
  (piece) => {
    const text = `${piece.repeat(40_000 / piece.length)}end`;
    expect(outline(parseMrkdwn(text))).toContain('end');
  },
);

const hostileText = fc
  .array(
    fc.constantFrom(
      ...['*', '_', '~', '`', '```', '<', '>', '|', '@', '!', '#', '&', '\n', ' ', 'a', 'b', ':tada:', 'U1'],
      ...['https://a.example/', '<@U1>', '<!here>', '<https://evil.example|bank>', '&lt;', '>>> '],
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));
