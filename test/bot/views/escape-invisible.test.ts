import { describe, expect, test } from 'vitest';
import { escapeInvisible } from '../../../src/bot/views/sanitize-markdown.ts';

describe('what honest prose needs stays as it is', () => {
  test.each([
    ['a family', '👨‍👩‍👧‍👦'],
    ['people with skins', '👍🏽‍♂️ 🧑🏽‍🤝‍🧑🏿'],
    ['flags', '🇺🇦 🏳️‍🌈 🏳‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['keycaps and selectors', '1️⃣ #️⃣ ☎️ ☎︎ ©️ ❤️‍🔥'],
    ['an emoji of a later year', '\u{1FAE9}\u{1FACE}'],
    ['a Persian word', 'می\u200Cخواهم'],
    ['Indian words', 'क्\u200Dष क्\u200Cष ශ්\u200Dරී'],
    ['a Mongolian suffix', 'ᠪᠠ\u180Bᠭ\u180B'],
    ['the name of a Japanese town', '葛\u{E0100}城'],
    ['spaces of many lands', '10\u202F000\u00A0€ 全\u3000角'],
    ['the end of an ayah', '\u06DD١'],
    ['vowels and accents', 'שָׁלוֹם Việt Nam cafe\u0301'],
    ['lines and tabs', 'a\n\tb\r\nc'],
    ['an escape that was typed', 'write \\u{202e}'],
  ])('%s', (_what, text) => {
    expect(escapeInvisible(text)).toBe(text);
  });
});

describe('what hides or turns is shown as its code', () => {
  test.each([
    ['an override', 'a\u202Etxt.exe\u202C', 'a\\u{202e}txt.exe\\u{202c}'],
    [
      'isolates and marks',
      '\u2066a\u2069\u200E\u200F\u061C',
      '\\u{2066}a\\u{2069}\\u{200e}\\u{200f}\\u{61c}',
    ],
    [
      'characters without width',
      'pay\u200Bpal\u2060\uFEFF\u00AD',
      'pay\\u{200b}pal\\u{2060}\\u{feff}\\u{ad}',
    ],
    ['joiners in Latin words', 'pay\u200Cpal\u200D', 'pay\\u{200c}pal\\u{200d}'],
    ['a second joiner in a Persian word', 'می\u200C\u200Cخ', 'می\u200C\\u{200c}خ'],
    ['tags that are no flag', '🏴\u{E0061}\u{E007F}', '🏴\\u{e0061}\\u{e007f}'],
    ['selectors after letters and digits', 'a\uFE0F1\uFE0Fb\u{E0100}', 'a\\u{fe0f}1\\u{fe0f}b\\u{e0100}'],
    ['two selectors in a row', '☎\uFE0F\uFE0F', '☎\uFE0F\\u{fe0f}'],
    ['fillers', '\u3164\u115F', '\\u{3164}\\u{115f}'],
    ['controls', 'a\u0000\u001B[2K\rb', 'a\\u{0}\\u{1b}[2K\\u{d}b'],
    ['half a character', 'a\uD83D b', 'a\\u{d83d} b'],
    ['the sixth mark on a letter', `a${'\u0301'.repeat(6)}`, `a${'\u0301'.repeat(5)}\\u{301}`],
  ])('%s', (_what, text, shown) => {
    expect(escapeInvisible(text)).toBe(shown);
  });
});
