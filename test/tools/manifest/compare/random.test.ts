import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareManifests,
  type LockedManifest,
} from '../../../../src/tools/manifest/compare/compare-manifests.ts';
import { parseManifest } from '../../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../../src/tools/manifest/problem.ts';
import { countFor } from '../../../support/count-for.ts';
import { allow, call, GROUPS, manifestFor, PEOPLE, policy, rule } from '../../gate/arbitraries.ts';
import type { ReferenceRule } from '../../gate/reference.ts';
import { mayRun, type ReferenceManifest } from '../../gate/reference-approvals.ts';

const RUNS = countFor('WEAKENING', { quick: 150, full: 1_500 });
const NAMES = ['default', 'one', 'two'];

const manifest: fc.Arbitrary<ReferenceManifest> = fc
  .record({ rules: fc.array(rule, { maxLength: 3 }), allow, policies: fc.tuple(policy, policy, policy) })
  .map(({ rules, allow: allowed, policies: [first, one, two] }) => ({
    tool: { rules, allow: allowed },
    policies: new Map([
      ['default', first],
      ['one', one],
      ['two', two],
    ]),
  }));

type Change = (from: ReferenceManifest) => ReferenceManifest;
const withRules =
  (change: (rules: readonly ReferenceRule[]) => readonly ReferenceRule[]): Change =>
  (from) => ({ ...from, tool: { ...from.tool, rules: change(from.tool.rules) } });
const index = fc.integer({ min: 0, max: 3 });
/** Small changes, so that many pairs can be compared at all. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(index, rule).map(([at, added]) => withRules((rules) => rules.toSpliced(at, 0, added))),
  fc.tuple(index, rule).map(([at, next]) => withRules((rules) => rules.toSpliced(at, 1, next))),
  index.map((at) => withRules((rules) => rules.toSpliced(at, 1))),
  fc.constant(withRules((rules) => rules.toReversed())),
  fc
    .tuple(index, fc.constantFrom('never', 'always', 'deny'))
    .map(([at, require]) =>
      withRules((rules) => rules.map((each, place) => (place === at ? { ...each, require } : each))),
    ),
  fc
    .tuple(
      fc.constantFrom(...NAMES),
      policy,
      fc.constantFrom('groups', 'excluded', 'selfApproval', 'separation'),
    )
    .map(
      ([name, other, key]): Change =>
        (from) => {
          const own = from.policies.get(name) ?? other;
          return { ...from, policies: new Map([...from.policies, [name, { ...own, [key]: other[key] }]]) };
        },
    ),
  fc.constantFrom(...NAMES).map(
    (name): Change =>
      (from) => {
        const own = from.policies.get(name);
        if (own === undefined) return from;
        const groups = own.groups.map((group) => ({ ...group, quorum: group.quorum + 1 }));
        return { ...from, policies: new Map([...from.policies, [name, { ...own, groups }]]) };
      },
  ),
  allow.map(
    (other): Change =>
      (from) => ({ ...from, tool: { ...from.tool, allow: other } }),
  ),
);

function parsed({ tool, policies }: ReferenceManifest): LockedManifest {
  const text = manifestFor(tool.rules, policies, tool.allow);
  const result = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return { manifest: result.manifest, lock: undefined };
}

/** All sets of people. */
const SETS = PEOPLE.reduce<string[][]>(
  (sets, person) => sets.flatMap((set) => [set, [...set, person]]),
  [[]],
);

test(`of ${RUNS} random pairs, one that is equal or stronger lets no call run with less than before`, () => {
  let [compared, weakerFound] = [0, 0];
  fc.assert(
    fc.property(
      manifest,
      fc.array(change, { minLength: 1, maxLength: 2 }),
      fc.array(call, { minLength: 6, maxLength: 12 }),
      fc.tuple(fc.subarray(PEOPLE), fc.subarray(PEOPLE)),
      (former, changes, calls, [first, second]) => {
        const next = changes.reduce((from, apply) => apply(from), former);
        const { verdict, changes: found } = compareManifests(parsed(former), parsed(next));
        const members = new Map([
          [GROUPS[0] ?? '', first],
          [GROUPS[1] ?? '', second],
        ]);
        const isWeaker = calls.some((each) =>
          SETS.some(
            (people) => mayRun(next, each, people, members) && !mayRun(former, each, people, members),
          ),
        );
        if (verdict === 'equal' || verdict === 'stronger') {
          compared += 1;
          expect({ isWeaker, found }).toEqual({ isWeaker: false, found });
        } else if (isWeaker) weakerFound += 1;
      },
    ),
    { numRuns: RUNS },
  );
  // The claim would be empty if nothing could be compared, or if no pair were weaker.
  expect(compared).toBeGreaterThan(RUNS / 10);
  expect(weakerFound).toBeGreaterThan(RUNS / 20);
});
