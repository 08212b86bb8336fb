import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isIn, isPlayed, LISTED, TEST_FILES } from './forms.ts';
import { readImports } from './imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** All of our own files that a file imports, by whatever way. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const { target, isOwn } of readImports(file, readFileSync(`${root}/${file}`, 'utf8')))
    if (isOwn && target.startsWith('test/') && target.endsWith('.ts')) reachedFrom(target, reached);
  return reached;
}

test('every test file is played by npm test or by npm run test:full', () => {
  expect(TEST_FILES.length).toBeGreaterThan(100);
  expect(TEST_FILES.filter((file) => !isPlayed('quick', file) && !isPlayed('full', file))).toEqual([]);
});

test('every place that the forms list holds a test file', () => {
  const places = Object.values(LISTED).flat();
  expect(places.filter((place) => !TEST_FILES.some((file) => isIn([place], file)))).toEqual([]);
});

test('what has a part for each form is played by both', () => {
  const scaled = TEST_FILES.filter((file) => reachedFrom(file).has('test/support/count-for.ts'));
  expect(scaled.filter((file) => !isPlayed('full', file))).toEqual([]);
  expect(LISTED.SCALED.filter((file) => !scaled.includes(file))).toEqual([]);
});

test('no test has a time limit of its own: on a busy machine it ends what only takes long', () => {
  const limit =
    /^\s*\}, \d[\d_]{3,}\);$|\},\n\s+\d[\d_]{3,},\n\s*\);|^(?:\s*test\b.*\{ | {2})timeout: [\d_A-Z]+\b/m;
  const limited = TEST_FILES.filter((file) => limit.test(readFileSync(`${root}/${file}`, 'utf8')));
  expect(limited).toEqual([]);
});
