import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { isBound, isOpenStep, mayBeInPlan, planDigest, stepRef } from '../../src/engine/plans.ts';
import { toRisk } from '../../src/policy/policy.ts';
import { REVERSIBLE } from '../../src/policy/reversible.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';

const tool = defineTool(
  { name: 'close', description: 'Closes.', inputSchema: z.object({ amount: z.number() }) },
  () => ({}),
);
/** The details of a request, as its record holds them. */
const DETAILS = {
  interrupt: { id: '1', toolRequest: { name: 'close', ref: 'c1', input: { amount: 1 } } },
  idempotencyKey: 'k1',
  presented: { title: 'Close', done: 'Closed', fields: [], hasTitle: true, isComplete: true },
  policy: { name: 'default', risk: 'medium', own: false },
  facets: {},
};
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
  const excludedFrom = ['input.author'];
  const withAuthor = {
    policy: (name: string) => ({ ...policy(name), excludedFrom }) as ReturnType<typeof policy>,
  };
  expect(mayBeInPlan(withAuthor, { tool, reversible: 'yes' }, call)).toBe(false);
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

test('what people approved lets a step run whose digest is in their plan, and no other', () => {
  const step = (number: number, digest: string, isChosen = true) => ({
    ...{ id: `T-1~${number}`, number, digest, alone: false, isChosen },
    state: 'approved' as const,
  });
  const plan = (digest: string, ...steps: ReturnType<typeof step>[]) => ({
    ...{ digest, steps },
    details: { ...DETAILS, shown: 'shown' },
  });
  const [one, two] = [step(1, 'a'), step(2, 'b')];
  const whole = planDigest('shown', [one, two]);
  expect(isBound(plan(whole, one, two), { digest: 'a' })).toBe(true);
  // The bytes of a step were changed, and its own digest with them.
  expect(isBound(plan(whole, step(1, 'c'), two), { digest: 'c' })).toBe(false);
  expect(isBound(plan(whole, one, two), { digest: 'c' })).toBe(false);
  const chosen = planDigest('shown', [one, two], [1]);
  expect(isBound(plan(chosen, one, step(2, 'b', false)), { digest: 'a' })).toBe(true);
  expect(isBound(plan(chosen, one, step(2, 'b', false)), { digest: 'b' })).toBe(false);
  expect(isBound({ digest: 'a', details: DETAILS }, { digest: 'a' })).toBe(true);
  expect(isBound({ digest: 'a', details: DETAILS }, { digest: 'b' })).toBe(false);
});

test('a step has not ended until it has run or neither will', () => {
  for (const state of ['pending', 'approved', 'started', 'unknown'] as const)
    expect(isOpenStep({ state })).toBe(true);
  for (const state of ['succeeded', 'ran', 'skipped', 'failed', 'paused', 'did-not-run'] as const)
    expect(isOpenStep({ state })).toBe(false);
  expect(stepRef('plan', 1)).not.toBe(stepRef('plan', 2));
  expect(stepRef('plan', 12).length).toBeLessThanOrEqual(40);
});
