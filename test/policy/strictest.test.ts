import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { covers, fillGroups, findPolicy, type Policy, strictestPolicy } from '../../src/policy/policy.ts';
import { compileApprovalRules, judgeStrictly, strictestVerdict } from '../../src/policy/rules.ts';
import type { PolicyFile } from '../../src/tools/manifest/schema/policies.ts';
import { toPolicy } from '../../src/tools/manifest/to-manifest.ts';
import { nonEmpty } from '../support/non-empty.ts';

const PEOPLE = ['U-ann', 'U-ben', 'U-cid', 'U-dot'];
const APPROVERS = ['U-p1', 'U-p2', 'U-p3', 'U-p4'];
const NAMES = ['default', 'two', 'three', 'own'];

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
    policy: fc.constantFrom(...NAMES, 'gone'),
  },
  { requiredKeys: [] },
);
const group = fc.record({
  any: fc.subarray(APPROVERS, { minLength: 1 }),
  quorum: fc.integer({ min: 1, max: 2 }),
});
const policy = fc.record({
  approvers: fc.record({
    all: fc.array(group, { minLength: 1, maxLength: 2 }),
    not: fc.subarray(APPROVERS, { maxLength: 1 }),
  }),
  self_approval: fc.boolean(),
  separation: fc.constantFrom('requesters' as const, 'thread' as const),
});
const policies = fc.tuple(policy, policy, policy, policy).map(policyMap);

function policyMap(written: readonly PolicyFile[]): ReadonlyMap<string, Policy> {
  return new Map(
    written.map((each, index) => [NAMES[index] ?? '', toPolicy(NAMES[index] ?? '', each)] as const),
  );
}

/** Tells whether the approvals of these people are enough under a policy. */
function isEnough({ groups, excluded }: Policy, people: readonly string[]): boolean {
  const quorums = groups.map(({ quorum }) => quorum);
  const members = people
    .filter((who) => !excluded.includes(who))
    .map((who) => ({
      who,
      groups: groups.flatMap(({ any }, index) => (any.includes(who) ? [index + 1] : [])),
    }));
  return fillGroups(quorums, members).flat().length === quorums.reduce((sum, quorum) => sum + quorum, 0);
}

test('for any requesters, context authors, rules and policies the verdict asks for all that it asks for any one person alone', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 4 }),
      policies,
      fc.subarray(PEOPLE, { minLength: 1 }),
      fc.subarray(PEOPLE),
      fc.integer({ min: 0, max: 20 }),
      fc.subarray(APPROVERS),
      (rules, known, requesters, others, amount, approved) => {
        const policyOf = (name: string) => known.get(name);
        const contextAuthors = others.filter((id) => !requesters.includes(id));
        const compiled = compileApprovalRules(rules);
        const call = { tool: 'act', input: { amount }, channel: 'C1', requesters, contextAuthors };
        const { verdict } = judgeStrictly(compiled, call, policyOf);
        const needed = verdict.outcome === 'ask' ? findPolicy(policyOf, verdict.policy) : undefined;
        for (const requester of [...requesters, ...contextAuthors]) {
          const alone = compiled({ ...call, requester }).verdict;
          if (alone.outcome === 'deny') expect(verdict.outcome).toBe('deny');
          if (alone.outcome !== 'ask') continue;
          expect(verdict.outcome).not.toBe('run');
          const own = findPolicy(policyOf, alone.policy);
          if (own === undefined || needed === undefined) expect(needed).toBeUndefined();
          else {
            if (isEnough(needed, approved)) expect(isEnough(own, approved)).toBe(true);
            expect(needed.selfApproval && !own.selfApproval).toBe(false);
            expect(needed.separation === 'requesters' && own.separation === 'thread').toBe(false);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('the policy of several is at least as strict as each of them, whoever approves', () => {
  fc.assert(
    fc.property(
      policies,
      fc.subarray(NAMES, { minLength: 1 }),
      fc.subarray(APPROVERS),
      (known, names, people) => {
        const policyOf = (name: string) => known.get(name);
        const needed = findPolicy(policyOf, strictestPolicy(names, policyOf));
        if (needed === undefined || !isEnough(needed, people)) return;
        for (const name of nonEmpty(names)) {
          const each = known.get(name);
          expect(each !== undefined && isEnough(each, people)).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});

describe('of two policies', () => {
  const strictest = (one: PolicyFile, other: PolicyFile) => {
    const known = new Map([
      ['one', toPolicy('one', one)],
      ['other', toPolicy('other', other)],
    ]);
    return strictestPolicy(['one', 'other'], (name) => known.get(name));
  };
  const either = ['U1', 'U2'];

  test.each<[string, PolicyFile, PolicyFile, string]>([
    ['equal: the first', { approvers: either }, { approvers: either }, 'one'],
    ['the higher quorum', { approvers: either }, { approvers: either, quorum: 2 }, 'other'],
    ['the higher quorum, in any order', { approvers: either, quorum: 2 }, { approvers: either }, 'one'],
    ['fewer approvers', { approvers: either }, { approvers: ['U2'] }, 'other'],
    ['other approvers: both', { approvers: ['U1'] }, { approvers: ['U2'], quorum: 1 }, 'one + other'],
    [
      'a higher quorum of others: both',
      { approvers: ['U1'] },
      { approvers: ['U2', 'U3'], quorum: 2 },
      'one + other',
    ],
    [
      'one more group',
      { approvers: ['U1'] },
      { approvers: { all: [{ any: ['U2'] }, { any: ['U1'] }] } },
      'other',
    ],
    ['no self-approval', { approvers: either, self_approval: true }, { approvers: either }, 'other'],
    ['separation', { approvers: either }, { approvers: either, separation: 'thread' }, 'other'],
    [
      'each stricter in something: both',
      { approvers: either, separation: 'thread' },
      { approvers: either, quorum: 2 },
      'one + other',
    ],
    ['exclusion', { approvers: either }, { approvers: { any: either, not: ['U1'] } }, 'other'],
    ['no delegation', { approvers: either, delegation: true }, { approvers: either }, 'other'],
    [
      'no escalation',
      { approvers: either, escalate: { after: 1, to: ['U3'] } },
      { approvers: either },
      'other',
    ],
    [
      'approvers from the call: both',
      { approvers: either },
      { approvers: { from: 'input.owner' } },
      'one + other',
    ],
    [
      'the same from the call',
      { approvers: { from: 'input.owner' } },
      { approvers: { from: 'input.owner' } },
      'one',
    ],
  ])('%s', (_, one, other, expected) => {
    expect(strictest(one, other)).toBe(expected);
  });

  test('joined, each keeps its groups, as far as no group of the other is as strict', () => {
    const known = new Map([
      [
        'one',
        toPolicy('one', { approvers: either, quorum: 2, separation: 'thread', grants: { for: 1, uses: 1 } }),
      ],
      ['other', toPolicy('other', { approvers: { all: [{ any: either }, { any: ['U3'] }], not: ['U9'] } })],
    ]);
    expect(findPolicy((name) => known.get(name), 'one + other')).toMatchObject({
      groups: [
        { any: either, quorum: 2 },
        { any: ['U3'], quorum: 1 },
      ],
      quorum: 3,
      excluded: ['U9'],
      separation: 'thread',
      grants: undefined,
    });
  });

  test('a policy that leaves an author out is not covered by one that does not, and joined leaves all authors out', () => {
    const anyone = toPolicy('one', { approvers: ['U1', 'U2'] });
    const author = toPolicy('two', { approvers: { any: ['U1', 'U2'], not: { from: 'input.author' } } });
    const owner = toPolicy('three', {
      approvers: { any: ['U1', 'U2'], not: { from: 'input.owner' } },
    });
    expect([covers(anyone, author), covers(author, anyone)]).toEqual([false, true]);
    const all = new Map([author, owner].map((policy) => [policy.name, policy]));
    expect(findPolicy((name) => all.get(name), 'two + three')).toMatchObject({
      ...{ excludedFrom: ['input.author', 'input.owner'] },
    });
  });

  test('joined with one that is gone, nobody can approve', () => {
    const policyOf = (name: string) => (name === 'one' ? toPolicy('one', { approvers: either }) : undefined);
    expect(strictestPolicy(['one', 'gone'], policyOf)).toBe('gone');
    expect(findPolicy(policyOf, 'one + gone')).toBeUndefined();
  });
});

test('a limit names the verdict, and its policy is asked beside that of the rules', () => {
  const policyOf = (name: string) => toPolicy(name, { approvers: [name === 'two' ? 'U2' : 'U1'] });
  const own = { outcome: 'ask', rule: 'this tool: always', policy: 'two' } as const;
  const over = { outcome: 'ask', rule: 'limit a', policy: 'one', overLimit: true } as const;
  expect(strictestVerdict(own, [over], policyOf)).toEqual({ ...over, policy: 'two + one' });
  expect(strictestVerdict(own, [{ ...over, policy: 'two' }], policyOf)).toEqual({ ...over, policy: 'two' });
  expect(strictestVerdict({ outcome: 'run', rule: 'never' }, [over], policyOf)).toEqual(over);
  expect(strictestVerdict(own, [], policyOf)).toEqual(own);
  const denied = { outcome: 'deny', rule: 'limit b', reason: 'No.' } as const;
  expect(strictestVerdict(own, [over, denied], policyOf)).toEqual(denied);
});

test('of policies that are as strict as each other the one of the first requester is used', () => {
  const rules = compileApprovalRules([{ when: 'requester == "U-ann"', policy: 'two' }, { policy: 'three' }]);
  const policyOf = (name: string) => toPolicy(name, { approvers: ['U0APPROVER'] });
  const judge = (requesters: string[], contextAuthors: string[]) =>
    judgeStrictly(rules, { tool: 'act', input: {}, channel: 'C1', requesters, contextAuthors }, policyOf)
      .verdict;
  expect(judge(['U-ann', 'U-ben'], [])).toMatchObject({ policy: 'two' });
  expect(judge(['U-ben'], ['U-ann'])).toMatchObject({ policy: 'three' });
});
