import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileApprovalRules } from '../../../src/tools/gate/approval-rules.ts';
import type { Policy } from '../../../src/tools/gate/policy.ts';
import { compareStrictness, strictestVerdict } from '../../../src/tools/gate/strictest.ts';
import { toPolicy } from '../../../src/tools/manifest/to-manifest.ts';

const PEOPLE = ['U-ann', 'U-ben', 'U-cid', 'U-dot'];
const POLICY_NAMES = ['default', 'two', 'three', 'own', 'gone'];

const person = fc.constantFrom(...PEOPLE);
const when = fc.oneof(
  person.map((id) => `requester == "${id}"`),
  person.map((id) => `requester != "${id}"`),
  person.map((id) => `"${id}" in requesters`),
  person.map((id) => `"${id}" in context_authors`),
  fc.constantFrom('input.amount > 10', 'size(requesters) > 1', 'input.missing == 1'),
);
const rule = fc.record(
  {
    require: fc.constantFrom('never' as const, 'always' as const, 'deny' as const),
    when,
    policy: fc.constantFrom(...POLICY_NAMES),
  },
  { requiredKeys: [] },
);
const policies = fc.record({
  default: fc.integer({ min: 1, max: 3 }),
  two: fc.integer({ min: 1, max: 3 }),
  three: fc.integer({ min: 1, max: 3 }),
  own: fc.integer({ min: 1, max: 3 }),
});

test('for any requesters, context authors, rules and policies the verdict is never weaker than for any one person alone', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 4 }),
      policies,
      fc.subarray(PEOPLE, { minLength: 1 }),
      fc.subarray(PEOPLE),
      fc.integer({ min: 0, max: 20 }),
      (rules, quorums, requesters, others, amount) => {
        const known = new Map<string, Policy>(
          Object.entries(quorums).map(([name, quorum]) => [
            name,
            toPolicy(name, { approvers: ['U0APPROVER'], quorum, self_approval: name === 'own' }),
          ]),
        );
        const policyOf = (name: string) => known.get(name);
        const contextAuthors = others.filter((id) => !requesters.includes(id));
        const compiled = compileApprovalRules(rules);
        const call = { tool: 'act', input: { amount }, channel: 'C1', requesters, contextAuthors };
        const verdict = strictestVerdict(compiled, call, policyOf);
        for (const requester of [...requesters, ...contextAuthors]) {
          const alone = compiled({ ...call, requester }).verdict;
          expect(compareStrictness(verdict, alone, policyOf)).toBeGreaterThanOrEqual(0);
          if (alone.outcome === 'deny') expect(verdict.outcome).toBe('deny');
          if (alone.outcome === 'ask') expect(verdict.outcome).not.toBe('run');
          const quorum = alone.outcome === 'ask' ? (policyOf(alone.policy)?.quorum ?? 0) : 0;
          const needed = verdict.outcome === 'ask' ? (policyOf(verdict.policy)?.quorum ?? 99) : 0;
          if (verdict.outcome !== 'deny') expect(needed).toBeGreaterThanOrEqual(quorum);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('of policies that are as strict as each other the one of the first requester is used', () => {
  const rules = compileApprovalRules([{ when: 'requester == "U-ann"', policy: 'two' }, { policy: 'three' }]);
  const policyOf = (name: string) => toPolicy(name, { approvers: ['U0APPROVER'] });
  const judge = (requesters: string[], contextAuthors: string[]) =>
    strictestVerdict(rules, { tool: 'act', input: {}, channel: 'C1', requesters, contextAuthors }, policyOf);
  expect(judge(['U-ann', 'U-ben'], [])).toMatchObject({ policy: 'two' });
  expect(judge(['U-ben'], ['U-ann'])).toMatchObject({ policy: 'three' });
});
