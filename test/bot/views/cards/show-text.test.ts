import { describe, expect, test } from 'vitest';
import { readJson, renderValue, showJson } from '../../../../src/bot/views/cards/render-value.ts';
import { cut, excerpt, quoteText, showLine } from '../../../../src/bot/views/texts/show-text.ts';

describe('what cannot be seen is shown', () => {
  test.each([
    ['a direction change', 'a\u202Eb', 'a\\u{202e}b'],
    ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a zero-width space', 'a\u200Bb', 'a\\u{200b}b'],
    ['a joiner outside an emoji', 'a\u200Db', 'a\\u{200d}b'],
    ['a selector outside an emoji', 'a\uFE0Fb', 'a\\u{fe0f}b'],
    ['a supplementary selector', 'a\u{E0100}', 'a\\u{e0100}'],
    ['a tag', '\u{E0041}', '\\u{e0041}'],
    ['a soft hyphen', 'a\u00ADb', 'a\\u{ad}b'],
    ['a Hangul filler', '\u3164', '\\u{3164}'],
    ['an empty Braille cell', '\u2800', '\\u{2800}'],
    ['a space that is none', 'a\u00A0b', 'a\\u{a0}b'],
    ['a control character', '\u0007\u0085', '\\u{7}\\u{85}'],
    ['a line break', 'a\nb\u2028c', 'a\\u{a}b\\u{2028}c'],
    ['half a character', 'a\uD800b', 'a\\u{d800}b'],
    ['an unassigned character', '\u0378', '\\u{378}'],
    ['a private character', '\uE000', '\\u{e000}'],
    ['a mark without a letter', ' \u0301', ' \\u{301}'],
    ['a fifth mark', 'a\u0301\u0302\u0303\u0304\u0305', 'a\u0301\u0302\u0303\u0304\\u{305}'],
    ['a seventeenth space', `a${' '.repeat(18)}b`, `a${' '.repeat(16)}\\u{20}\\u{20}b`],
    ['a Cyrillic letter among Latin ones', 'p\u0430ypal', 'p\\u{430}ypal'],
    ['a Greek one', 'R\u03BFy', 'R\\u{3bf}y'],
    ['a whole part of an address', '\u0430\u0441\u0435.com', '\\u{430}\\u{441}\\u{435}.com'],
    ['an escape of its own', '\\u{202e}', '\\u{5c}u{202e}'],
  ])('%s', (_, text, shown) => {
    expect(showLine(text)).toBe(shown);
  });

  test.each([
    '👩‍👩‍👧‍👦',
    '❤️',
    '1️⃣',
    '👍🏽',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '日本語',
    'Ångström',
    'Привет, Bob: 10 kΩ, 5 μm, IT-отдел',
    'Ελλάδα',
    'नमस्ते',
    'C:\\users',
    '<!channel> *x*',
  ])('%s stays as it is', (text) => {
    expect(showLine(text)).toBe(text);
  });

  test('in JSON too, and there a backslash and a quote are what JSON makes of them', () => {
    expect(quoteText('a"\\\n\t\u202E\uDC00')).toBe('"a\\"\\\\\\n\\t\\u{202e}\\u{dc00}"');
    expect(readJson('"\\u{1F600}\\u0041\\\\u{41}"')).toBe('😀A\\u{41}');
  });
});

describe('a cut', () => {
  test.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['ab\\u{202e}', 6, 'ab…'],
    ['ab😀cd', 4, 'ab…'],
    ['ab❤️cd', 5, 'ab❤…'],
  ])('of %s at %d leaves %s', (text, length, left) => {
    expect(cut(text, length)).toBe(left);
  });

  test('of lines says how many characters it left out', () => {
    expect(excerpt('a\n\n\n\nb', { characters: 100, lines: 2 })).toEqual({ text: 'a\n', leftOut: 4 });
    expect(excerpt('abc', { characters: 100, lines: 2 })).toEqual({ text: 'abc', leftOut: 0 });
    expect(excerpt('  ', { characters: 100, lines: 2 })).toEqual({ text: '"  "', leftOut: 0 });
  });
});

describe('a value', () => {
  test.each([
    [{ orderId: 'A1', amount: 120 }, 'orderId: "A1"\namount: 120'],
    [{}, '{}'],
    [{ 'two words': null, '': [] }, '"two words": null\n"": []'],
    [{ sql: 'SELECT 1\nFROM a\\b' }, 'sql: |\n  | SELECT 1\n  | FROM a\\b'],
    ['text', '"text"'],
    [[1, 'a'], '[1, "a"]'],
  ])('%j is shown as %s', (value, text) => {
    expect(renderValue(value)).toEqual({ text, leftOut: undefined });
  });

  test('that is long is spread over lines, the short parts of it on one each', () => {
    const value = {
      list: Array.from({ length: 3 }, (_, index) => ({ name: `item ${index}`, tags: ['a', 'b'] })),
    };
    expect(renderValue(value).text).toBe(
      'list: [\n  {"name": "item 0", "tags": ["a", "b"]},\n  {"name": "item 1", "tags": ["a", "b"]},\n  {"name": "item 2", "tags": ["a", "b"]}\n]',
    );
    expect(readJson(showJson(value))).toEqual(value);
  });

  test('with more lines than there is room for is left out as well', () => {
    const { text, leftOut } = renderValue(
      { note: '\n'.repeat(60), amount: 1 },
      { characters: 2_500, lines: 40 },
    );
    expect(text).toBe('note: (not shown: 312 characters)\namount: 1');
    expect(leftOut).toBe('1 of 2 arguments not shown');
  });
});
