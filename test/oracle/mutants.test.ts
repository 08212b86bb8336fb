import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findFile, MUTANTS } from '../../scripts/mutants.ts';
import { isPlayed, TEST_FILES } from '../support/forms.ts';
import { nonEmpty } from '../support/non-empty.ts';

test('a test of the quick form is there to kill each mutant', () => {
  const unplayed = nonEmpty(MUTANTS).flatMap(({ tests }) =>
    nonEmpty(tests).filter((file) => !isPlayed('quick', file) || !TEST_FILES.includes(file)),
  );
  expect(unplayed).toEqual([]);
});

test('every mutant has a check to change, in one place of the sources', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const lost = nonEmpty(MUTANTS).filter(({ text }) => findFile(root, text) === undefined);
  expect(lost.map(({ name }) => name)).toEqual([]);
});
