import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');
const rows = [...page.matchAll(/^\| ((?:9|10)\.\d\.\d+) \| ([^|]+) \| ([^|]+) \| (.+) \|$/gm)].map(
  ([, line = '', , state = '', shown = '']) => ({
    line,
    state,
    tests: [...shown.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file),
    shown,
  }),
);
/** The number of lines in each section of each chapter. */
const LINES = new Map([
  [9, [3, 10, 8, 4, 6, 3]],
  [10, [3, 7, 5, 8]],
]);

test('every line of both chapters is there once', () => {
  const expected = [...LINES].flatMap(([chapter, sections]) =>
    sections.flatMap((count, section) =>
      Array.from({ length: count }, (_, line) => `${chapter}.${section + 1}.${line + 1}`),
    ),
  );
  expect(rows.map(({ line }) => line).sort()).toEqual(expected.sort());
});

test.each(rows)(
  '$line names a test that exists if it is met, and a reason if it is not',
  ({ state, tests, shown }) => {
    expect(['met', 'partly', 'not met']).toContain(state);
    if (state === 'met') expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
    expect(shown.length).toBeGreaterThan(10);
  },
);
