import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parentOf, pointerTo, segmentsOf } from '../../../src/agent/json.ts';

test('a pointer gives back the segments that it was made of, and its parent all but the last', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (segments) => {
      const pointer = segments.reduce<string>(pointerTo, '');
      expect(segmentsOf(pointer)).toEqual(segments);
      expect(segmentsOf(parentOf(pointer))).toEqual(segments.slice(0, -1));
    }),
  );
});

test('the root has no segments and is its own parent', () => {
  expect([segmentsOf(''), parentOf('')]).toEqual([[], '']);
});
