import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { isHolding, isOpenStep, mayBeInPlan, planDigest, stepRef } from '../../src/engine/plans.ts';
import { toRisk } from '../../src/policy/policy.ts';
import { REVERSIBLE } from '../../src/policy/reversible.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';

const tool = defineTool(
  { name: 'close', description: 'Closes.', inputSchema: z.object({ amount: z.number() }) },
  () => ({}),
);
const place = { requesters: ['U0REMI0001'], contextAuthors: [], channel: 'C0GENERAL1' };

/** A toolbox whose only policy has this risk. */
function policyOf(risk: string) {
  const text =
    'slack: { display_information: { name: Bot } }\npolicies: { default: { approvers: [U0ALICE001] } }\n';
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  const policy = parsed.ok ? parsed.manifest.policies.get('default') : undefined;
  return {
    policy: (name: string) => (name === 'gone' ? undefined : policy && { ...policy, risk: toRisk(risk) }),
  };
}

test.for(REVERSIBLE)(
  'a call that is reversible: %s is covered by a plan unless nothing takes it back',
  (reversible) => {
    const call = { input: { amount: 1 }, place, policy: 'default' };
    expect(mayBeInPlan(policyOf('medium'), { tool, reversible }, call)).toBe(reversible !== 'no');
  },
);

test('a call of high risk, of a risk that cannot be told, or under a policy that is gone is asked alone', () => {
  const isCovered = (risk: string, policy = 'default', amount = 10) =>
    mayBeInPlan(policyOf(risk), { tool, reversible: 'yes' }, { input: { amount }, place, policy });
  expect(isCovered('low')).toBe(true);
  expect(isCovered('high')).toBe(false);
  expect(isCovered('input.amount > 5.0 ? "high" : "low"')).toBe(false);
  expect(isCovered('input.amount > 5.0 ? "high" : "low"', 'default', 2)).toBe(true);
  expect(isCovered('input.missing.part')).toBe(false);
  expect(isCovered('low', 'gone')).toBe(false);
});

test('a call whose policy takes its approvers from the call is asked alone', () => {
  const groups = [
    { any: [], from: 'has(input.owner) ? input.owner : "lead@example.com"', quorum: 1, pointer: '' },
  ];
  const { policy } = policyOf('low');
  const withOwner = { policy: (name: string) => ({ ...policy(name), groups }) as ReturnType<typeof policy> };
  const call = { input: { amount: 1 }, place, policy: 'default' };
  expect(mayBeInPlan({ policy }, { tool, reversible: 'yes' }, call)).toBe(true);
  expect(mayBeInPlan(withOwner, { tool, reversible: 'yes' }, call)).toBe(false);
});

test('the digest of a plan says which steps it has, in which order, and which of them were chosen', () => {
  const steps = ['a', 'b', 'c'].map((digest, index) => ({ number: index + 1, digest }));
  const swapped = ['b', 'a', 'c'].map((digest, index) => ({ number: index + 1, digest }));
  const digests = [
    planDigest('shown', steps),
    planDigest('other', steps),
    planDigest('shown', swapped),
    planDigest('shown', steps.slice(0, 2)),
    planDigest('shown', steps, [1, 3]),
    planDigest('shown', steps, [2, 3]),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  expect(planDigest('shown', steps, [1, 2, 3])).toBe(digests[0]);
});

test('a step that ended without a run holds the rest, unless nobody chose it', () => {
  const holding = [
    'failed',
    'rejected',
    'expired',
    'withdrawn',
    'superseded',
    'did-not-run',
    'paused',
  ] as const;
  for (const state of holding) expect(isHolding({ state })).toBe(true);
  for (const state of ['succeeded', 'ran', 'skipped'] as const) {
    expect(isHolding({ state })).toBe(false);
    expect(isOpenStep({ state })).toBe(false);
  }
  for (const state of ['pending', 'approved', 'started', 'unknown'] as const)
    expect(isOpenStep({ state })).toBe(true);
  expect(stepRef('plan', 1)).not.toBe(stepRef('plan', 2));
  expect(stepRef('plan', 12).length).toBeLessThanOrEqual(40);
});
