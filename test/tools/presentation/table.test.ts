import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, type JsonValue } from '../../../src/agent/json.ts';
import { showText } from '../../../src/bot/views/texts/show-text.ts';
import { tableText } from '../../../src/tools/presentation/table.ts';
import { readTable } from '../../bot/views/cards/read-table.ts';
import { countFor } from '../../support/count-for.ts';

const piece = fc.constantFrom(
  'a',
  'B',
  ' ',
  '|',
  ' | ',
  '"',
  '\\',
  '–',
  '1',
  '-',
  '.',
  '[',
  '{',
  '\n',
  '\u202E',
  'é',
  'null',
  '  ',
);
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.constantFrom<JsonValue>(0, -1.5, 1e21, true, false, null, [], {}, ['a | b', { c: '"' }]),
);
const rows = fc.array(fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true }), {
  minLength: 1,
  maxLength: 5,
});

test('a table that is shown can be read back exactly', () => {
  let read = 0;
  fc.assert(
    fc.property(rows, (given) => {
      const table = tableText(given);
      if (table === undefined) return;
      read += 1;
      const shown = showText(table);
      expect(canonicalJson(readTable(shown))).toBe(canonicalJson(given));
      // Its padding is never written out.
      expect(shown).not.toContain('\\u{20}');
    }),
    { numRuns: countFor('TABLE_RUNS', { quick: 300, full: 10_000 }) },
  );
  expect(read).toBeGreaterThan(100);
});

test.each<[string, JsonValue]>([
  ['a list with something else', [{ a: 1 }, 2]],
  ['an empty list', []],
  ['objects without anything', [{}, {}]],
  ['too many columns', [Object.fromEntries([...'abcdefghi'].map((name) => [name, 1]))]],
  ['a long cell', [{ a: 'x'.repeat(81) }]],
  ['an object', { a: 1 }],
])('%s is no table', (_, given) => {
  expect(tableText(given)).toBeUndefined();
});
