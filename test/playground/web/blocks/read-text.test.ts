import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emojiOf } from '../../../../playground/web/src/blocks/text/emoji-names.ts';
import { readRichText } from '../../../../playground/web/src/blocks/text/read-rich-text.ts';
import { plainString, readTextObject } from '../../../../playground/web/src/blocks/text/read-text-object.ts';
import { isSafeUrl, resolveLink } from '../../../../playground/web/src/blocks/text/resolve-link.ts';
import { outline } from './reading.ts';

describe('plain text', () => {
  test('is never parsed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const shown = outline(readTextObject({ type: 'plain_text', text }));
        expect(shown.replaceAll('⏎', '\n')).toBe(text);
      }),
    );
  });

  test('has emoji only where it asks for them', () => {
    const read = (emoji: boolean) =>
      outline(readTextObject({ type: 'plain_text', text: '*a* :tada:', emoji }));
    expect([read(true), read(false)]).toEqual(['*a* emoji(tada)', '*a* :tada:']);
    expect(plainString({ type: 'plain_text', text: ':tada: a\nb', emoji: true })).toBe('🎉 a b');
  });

  test('of something that is no text object is nothing', () => {
    expect([undefined, null, 'a', 7, []].map(readTextObject)).toEqual([[], [], [], [], []]);
  });
});

describe('rich text', () => {
  const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
  const text = (words: string, style?: object) => ({ type: 'text', text: words, style });
  const read = (...elements: object[]) => outline(readRichText({ type: 'rich_text', elements }));

  test('shows its text unchanged', () => {
    expect(read(section(text('*a* <@U1> :tada:\nb')))).toBe('*a* <@U1> :tada:⏎b');
    expect(read({ type: 'rich_text_preformatted', elements: [text('*a*\n <@U1>')] })).toBe(
      'pre(*a*\n <@U1>)',
    );
  });

  test('has styles, mentions, links, dates and emoji where its elements say so', () => {
    const mentions = [
      { type: 'user', user_id: 'U1' },
      { type: 'usergroup', usergroup_id: 'S1' },
      { type: 'channel', channel_id: 'C1' },
      { type: 'broadcast', range: 'here' },
    ];
    expect(read(section(text('a', { bold: true, italic: true }), text('b', { code: true })))).toBe(
      'italic(bold(a))code(b)',
    );
    expect(read(section(...mentions))).toBe('user(U1)group(S1)channel(C1)broadcast(here)');
    expect(read(section({ type: 'link', url: 'https://a.example' }, { type: 'emoji', name: 'x' }))).toBe(
      'link(https://a.example https://a.example)emoji(x)',
    );
    expect(read(section({ type: 'date', timestamp: 1, format: '{date}', fallback: 'then' }))).toBe(
      'date(1 {date} then)',
    );
  });

  test('renders an emoji from its code points, and none from invalid ones', () => {
    const unicodeOf = (unicode: string) =>
      readRichText({ elements: [section({ type: 'emoji', name: 'own', unicode })] })[0];
    const content = (unicode?: string) => ({
      kind: 'paragraph',
      content: [{ kind: 'emoji', name: 'own', ...(unicode !== undefined && { unicode }) }],
    });
    expect(unicodeOf('1f469-200d-1f4bb')).toEqual(content('👩‍💻'));
    expect(unicodeOf('ffffff')).toEqual(content());
    expect(unicodeOf('<b>')).toEqual(content());
  });

  test('nests lists by their indent and continues their numbering', () => {
    const list = (indent: number, words: string, more: object = {}) => ({
      type: 'rich_text_list',
      style: 'ordered',
      indent,
      elements: [section(text(words))],
      ...more,
    });
    expect(
      read(list(0, 'a'), list(1, 'b', { style: 'bullet' }), list(2, 'c'), list(0, 'd', { offset: 1 })),
    ).toBe('ol1(a | ul(b | ol1(c))) | ol2(d)');
    expect(read(list(3, 'deep'), list(0, 'a'))).toBe('ol1(deep) | ol1(a)');
  });

  test('names unknown elements instead of dropping them', () => {
    expect(read(section({ type: 'hologram' }), { type: 'rich_text_poem' })).toBe(
      '[hologram] | [rich_text_poem]',
    );
  });
});

describe('links', () => {
  test.each(['https://a.example', 'http://a.example', 'mailto:a@example.com', 'HTTPS://A.example'])(
    '%s may be followed',
    (url) => {
      expect(isSafeUrl(url)).toBe(true);
    },
  );

  test.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/archives/C1',
    'https://',
    '',
  ])('%j leads nowhere', (url) => {
    expect(resolveLink(url, 'acme')).toEqual({ kind: 'none' });
  });

  test("a permalink of this workspace stays inside the page, another one's does not", () => {
    const kindOf = (url: string) => resolveLink(url, 'acme').kind;
    expect(kindOf('https://acme.slack.com/archives/C1/p1700000000000100')).toBe('inside');
    expect(kindOf('https://other.slack.com/archives/C1/p1700000000000100')).toBe('outside');
    expect(kindOf('https://acme.slack.com.evil.example/archives/C1')).toBe('outside');
    expect(kindOf('https://acme.slack.com/apps')).toBe('outside');
  });
});

test.each([
  ['tada', '🎉'],
  ['+1', '👍'],
  ['-1', '👎'],
  ['white_check_mark', '✅'],
  ['x', '❌'],
  ['100', '💯'],
  ['nonsense', undefined],
])('the emoji %s is %s', (name, drawn) => {
  expect(emojiOf(name)).toBe(drawn);
});
