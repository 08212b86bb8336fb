import { expect, test } from 'vitest';
import { BackOff } from '../../../src/tools/mcp/back-off.ts';

const limits = { firstMs: 100, longestMs: 450 };
const waits = (backOff: BackOff) => Array.from({ length: 5 }, () => backOff.nextMs());

test('waits double up to the longest one', () => {
  expect(waits(new BackOff(limits, () => 0))).toEqual([100, 200, 400, 450, 450]);
});

test('chance takes away up to half of a wait', () => {
  expect(waits(new BackOff(limits, () => 1))).toEqual([50, 100, 200, 225, 225]);
});

test('a server that held is waited for as at first', () => {
  const backOff = new BackOff(limits, () => 0);
  waits(backOff);
  backOff.reset();
  expect(backOff.nextMs()).toBe(100);
});
