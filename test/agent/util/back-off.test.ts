import { expect, test } from 'vitest';
import { backOffMs } from '../../../src/agent/util/abort.ts';

const limits = { firstMs: 100, longestMs: 450 };
const waits = (random: () => number) =>
  [1, 2, 3, 4, 5].map((failures) => backOffMs(failures, limits, random));

test('waits double up to the longest one', () => {
  expect(waits(() => 0)).toEqual([100, 200, 400, 450, 450]);
});

test('chance shortens a wait by up to half', () => {
  expect(waits(() => 1)).toEqual([50, 100, 200, 225, 225]);
});

test('any number of failures gives a wait within the limits', () => {
  expect(backOffMs(0, limits, () => 0)).toBe(100);
  expect(backOffMs(10_000, limits, () => 0)).toBe(450);
});
