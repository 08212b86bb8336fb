import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLossyNumber } from '../../src/agent/json.ts';

describe('a number that would be changed is found with the way to it', () => {
  test.each([
    ['1e400', '', '1e400'],
    ['[0, -1E+400]', '1', '-1E+400'],
    ['{"amount": 1152921504606846977}', 'amount', '1152921504606846977'],
    ['{"a": {"b": [1, [], {"c": 9007199254740993}]}}', 'a.b.2.c', '9007199254740993'],
    ['[9007199254740993.0]', '0', '9007199254740993.0'],
    ['[-90071992547409930e-1]', '0', '-90071992547409930e-1'],
    // It is kept as a number, but written down again it has other digits.
    ['[1152921504606846976]', '0', '1152921504606846976'],
    ['{"a:\\"": "1", "b": "x", "a,[": 1e999}', 'a,[', '1e999'],
    ['{"a": [{"b": 1}, 2], "c": 1e999}', 'c', '1e999'],
  ])('%s', (text, path, literal) => {
    expect(findLossyNumber(text)).toEqual({ path, literal });
  });
});

describe('a number that is kept is left alone', () => {
  test.each([
    '[0, -0, 0.1, 1.10, 1e3, -12.50e-2, 9007199254740991, -9007199254740991, 9007199254740992]',
    '[1e23, 1E+300, 120000000000000000000, 1.7976931348623157e308, 0.1000000000000000055511151231257827]',
    '["1e400", "1152921504606846977", "\\" 1e400", "\\\\", {"1e400": null, "1152921504606846977": true}]',
    '"1e400"',
    '{}',
  ])('%s', (text) => {
    expect(findLossyNumber(text)).toBeUndefined();
  });

  test('whatever was written by JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(findLossyNumber(JSON.stringify(value, null, 1))).toBeUndefined();
      }),
    );
  });
});

test('a large integer is found exactly when its digits change', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }), (integer) => {
      const isChanged = BigInt(JSON.stringify(Number(integer))) !== integer;
      expect(findLossyNumber(`[${integer}]`) !== undefined).toBe(isChanged);
    }),
  );
});

test('a megabyte of digits, zeros or escapes takes no time worth a word', () => {
  const zeros = `1${'0'.repeat(500_000)}`;
  expect(findLossyNumber(`["${'\\n'.repeat(500_000)}", ${zeros}.${zeros}1]`)?.path).toBe('1');
  expect(findLossyNumber(`[9007199254740992.${'0'.repeat(500_000)}]`)).toBeUndefined();
  expect(findLossyNumber(`[9007199254740992.${'0'.repeat(500_000)}1]`)?.path).toBe('0');
});
