import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, toJson } from '../../src/agent/json.ts';

const anything = fc.anything({
  withDate: true,
  withMap: true,
  withSet: true,
  withBoxedValues: true,
  withNullPrototype: true,
  withSparseArray: true,
  withBigInt: false,
});

test('a copy in JSON is what JSON.stringify writes', () => {
  fc.assert(
    fc.property(anything, (value) => {
      const text = JSON.stringify(value);
      expect(toJson(value)).toStrictEqual(text === undefined ? null : JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test('a copy shares nothing with what it was made of', () => {
  const value = { list: [{ deep: 1 }] };
  const copy = toJson(value);
  value.list.push({ deep: 2 });
  expect(copy).toEqual({ list: [{ deep: 1 }] });
});

test('a circular value is refused', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(() => toJson(circle)).toThrow(TypeError);
});

test('equal values have one text, whatever order their keys came in', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(toJson(turned))).toBe(canonicalJson(toJson(value)));
      expect(JSON.parse(canonicalJson(toJson(value)))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('keys are sorted as text, also those that look like numbers', () => {
  expect(canonicalJson({ b: 1, 10: 2, 9: 3, 'a"': [{ d: 1, c: null }] })).toBe(
    '{"10":2,"9":3,"a\\"":[{"c":null,"d":1}],"b":1}',
  );
});
