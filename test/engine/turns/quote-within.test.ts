import { expect, test } from 'vitest';
import { fileName, quoteWithin } from '../../../src/engine/turns/intake/quote.ts';

test.each([
  ['fits', 'a\nb', 100, { quoted: '> a\n> b', shown: 'a\nb', isCut: false }],
  ['is cut within a line', 'hello world', 8, { quoted: '> hello', shown: 'hello', isCut: true }],
  ['is cut between lines', 'one\ntwo', 6, { quoted: '> one', shown: 'one', isCut: true }],
  ['has no half characters', 'grün', 6, { quoted: '> gr', shown: 'gr', isCut: true }],
  ['finds no room', 'hello', 0, { quoted: '', shown: '', isCut: true }],
])('a text that %s', (_what, text, maxBytes, expected) => {
  expect(quoteWithin(text, maxBytes)).toEqual(expected);
});

test('a text of line breaks alone does not grow beyond the limit', () => {
  const { quoted, isCut } = quoteWithin('\n'.repeat(100_000), 3_000);
  expect(Buffer.byteLength(quoted)).toBeLessThanOrEqual(3_000);
  expect(isCut).toBe(true);
});

test.each([
  ['a "b" c', "a 'b' c"],
  ['\u202Egnp.exe', 'gnp.exe'],
  ['[x]\n', 'x'],
  ['\u200b', 'file'],
])('the name %j is written as %j', (name, shown) => {
  expect(fileName(name)).toBe(shown);
});
