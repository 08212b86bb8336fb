import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillGroups, type GroupMember } from '../../src/policy/policy.ts';

const member = (who: string, ...groups: number[]): GroupMember => ({ who, groups });

test('nobody counts for two groups, and somebody who fits both makes room for another', () => {
  expect(fillGroups([1, 1], [member('ann', 1, 2)])).toEqual([['ann'], []]);
  expect(fillGroups([1, 1], [member('ann', 1, 2), member('ben', 1)])).toEqual([['ben'], ['ann']]);
  expect(fillGroups([1, 1], [member('ann', 1), member('ben', 1)])).toEqual([['ann'], []]);
  expect(
    fillGroups([2, 1], [member('ann', 1, 2), member('ben', 1, 2), member('cid', 1)]).flat(),
  ).toHaveLength(3);
});

/** The most places that can be filled: every way is tried. */
function mostPlaces(places: readonly number[], members: readonly GroupMember[]): number {
  const [first, ...rest] = members;
  if (first === undefined) return 0;
  const seated = places.map((group, place) =>
    first.groups.includes(group)
      ? 1 +
        mostPlaces(
          places.filter((_, other) => other !== place),
          rest,
        )
      : 0,
  );
  return Math.max(mostPlaces(places, rest), ...seated);
}

test('for any groups and people as many places are filled as can be, each by another person who is in the group', () => {
  const people = fc.array(fc.subarray([1, 2, 3]), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 3 }), people, (quorums, groups) => {
      const members = groups.map((own, index) => member(`U${index}`, ...own));
      const filled = fillGroups(quorums, members);
      const places = quorums.flatMap((quorum, index) => new Array<number>(quorum).fill(index + 1));
      expect(filled.flat()).toHaveLength(mostPlaces(places, members));
      expect(new Set(filled.flat()).size).toBe(filled.flat().length);
      for (const [index, own] of filled.entries()) {
        expect(own.length).toBeLessThanOrEqual(quorums[index] ?? 0);
        for (const who of own)
          expect(members.find((known) => known.who === who)?.groups).toContain(index + 1);
      }
    }),
    { numRuns: 300 },
  );
});
