import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSeed, seed } from './seed.ts';

test('the seed is fixed unless COUNTERSIGN_SEED has another', () => {
  expect(readSeed(undefined)).toBe(readSeed(undefined));
  expect([readSeed('12'), readSeed('-7'), readSeed('0')]).toEqual([12, -7, 0]);
});

test('random is a fresh seed each time, which can be given back', () => {
  const seeds = Array.from({ length: 20 }, () => readSeed('random'));
  expect(new Set(seeds).size).toBeGreaterThan(1);
  expect(seeds.map((fresh) => readSeed(`${fresh}`))).toEqual(seeds);
});

test.each(['', ' ', 'abc', '1.5', '0x10', '1e3', 'Random', '4294967296'])('%j is refused', (given) => {
  expect(() => readSeed(given)).toThrow(
    `COUNTERSIGN_SEED is neither an integer of 32 bits nor "random": ${given}`,
  );
});

test('all processes of a run have the same seed', () => {
  expect(process.env.COUNTERSIGN_SEED).toBe(`${seed}`);
});

test('random tests draw from the seed', () => {
  const draw = (changes: fc.Parameters<[number]> = {}) => {
    const drawn: number[] = [];
    fc.assert(
      fc.property(fc.integer(), (number) => {
        drawn.push(number);
      }),
      changes,
    );
    return drawn;
  };
  expect(draw()).toEqual(draw({ seed }));
  expect(draw()).not.toEqual(draw({ seed: seed + 1 }));
});

test('a random test that fails shows the seed', () => {
  const failing = () => fc.assert(fc.property(fc.integer(), () => false));
  expect(failing).toThrow(`seed: ${seed}`);
});
