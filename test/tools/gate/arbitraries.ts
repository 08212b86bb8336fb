import fc from 'fast-check';
import type { Condition, ReferenceCall, ReferencePolicy, ReferenceRule, ReferenceTool } from './reference.ts';

export const PEOPLE = ['U0ANN00001', 'U0BEN00002', 'U0CID00003', 'U0DOT00004'];
export const GROUPS = ['S0APPROVE1', 'S0FINANCE1'];
export const TOOL = 'act_now';
export const allow: fc.Arbitrary<ReferenceTool['allow']> = fc.record({
  people: fc.option(fc.subarray(PEOPLE, { minLength: 3 }), { nil: undefined, freq: 3 }),
  channels: fc.option(fc.constant(['C0ONE00001']), { nil: undefined, freq: 3 }),
});
const numberOf = (input: ReferenceCall['input'], name: string) => {
  const value = input[name];
  return typeof value === 'number' ? value : undefined;
};

const person = fc.constantFrom(...PEOPLE);
const simple: fc.Arbitrary<Condition> = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((limit) => ({
    cel: `input.amount > ${limit}`,
    holds: ({ input }: ReferenceCall) => {
      const amount = numberOf(input, 'amount');
      return amount === undefined ? undefined : amount > limit;
    },
  })),
  person.map((id) => ({ cel: `requester == "${id}"`, holds: (_: ReferenceCall, who: string) => who === id })),
  person.map((id) => ({
    cel: `"${id}" in requesters`,
    holds: ({ requesters }: ReferenceCall) => requesters.includes(id),
  })),
  person.map((id) => ({
    cel: `"${id}" in context_authors`,
    holds: ({ contextAuthors }: ReferenceCall) => contextAuthors.includes(id),
  })),
  fc.constant({
    cel: 'channel == "C0ONE00001"',
    holds: ({ channel }: ReferenceCall) => channel === 'C0ONE00001',
  }),
  fc.constant({ cel: 'has(input.amount)', holds: ({ input }: ReferenceCall) => 'amount' in input }),
  fc.constant({ cel: "tool.reversible == 'no'", holds: () => true }),
  fc.constantFrom('tool', 'target', 'pair').map((what) => ({
    cel: `first.${what}`,
    holds: ({ first }: ReferenceCall, who: string) => first?.[who]?.[what],
  })),
);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: simple },
  { weight: 1, arbitrary: simple.map(({ cel, holds }) => ({ cel: `!(${cel})`, holds: not(holds) })) },
  {
    weight: 1,
    arbitrary: fc.tuple(simple, simple).map(([one, other]) => ({
      cel: `${one.cel} && ${other.cel}`,
      holds: (call: ReferenceCall, who: string) => both(one.holds(call, who), other.holds(call, who)),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(simple, simple).map(([one, other]) => ({
      cel: `${one.cel} || ${other.cel}`,
      holds: (call: ReferenceCall, who: string) => either(one.holds(call, who), other.holds(call, who)),
    })),
  },
);

function not(holds: Condition['holds']): Condition['holds'] {
  return (call, who) => {
    const result = holds(call, who);
    return result === undefined ? undefined : !result;
  };
}

function either(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  if (one === true || other === true) return true;
  return one === undefined || other === undefined ? undefined : false;
}

/** In CEL a false side decides, whether the other can be evaluated or not. */
function both(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  if (one === false || other === false) return false;
  return one === undefined || other === undefined ? undefined : true;
}

export const rule: fc.Arbitrary<ReferenceRule> = fc.record(
  {
    match: fc.constantFrom('*', 'act*', 'other*', TOOL),
    require: fc.constantFrom('never', 'always', 'deny'),
    when: condition,
    policy: fc.constantFrom('default', 'one', 'two'),
  },
  { requiredKeys: [] },
);
/** A user group is always among the approvers, since a group of named people may be too small for its quorum. */
const any = fc
  .tuple(fc.subarray(GROUPS, { minLength: 1 }), fc.subarray(PEOPLE, { maxLength: 1 }))
  .map(([groups, people]) => [...groups, ...people]);
export const policy: fc.Arbitrary<ReferencePolicy> = fc.record({
  groups: fc.array(fc.record({ any, quorum: fc.integer({ min: 1, max: 2 }) }), {
    minLength: 1,
    maxLength: 2,
  }),
  excluded: fc.subarray(PEOPLE, { maxLength: 1 }),
  selfApproval: fc.boolean(),
  separation: fc.constantFrom('requesters', 'thread'),
});
export const call: fc.Arbitrary<ReferenceCall> = fc
  .record({
    amount: fc.constantFrom<unknown>(undefined, 0, 5, 10, 15, 21, '7', null),
    requesters: fc.shuffledSubarray(PEOPLE, { minLength: 1, maxLength: 2 }),
    others: fc.shuffledSubarray(PEOPLE, { maxLength: 2 }),
    channel: fc.constantFrom('C0ONE00001', 'C0TWO00002'),
  })
  .map(({ amount, requesters, others, channel }) => ({
    tool: TOOL,
    input: amount === undefined ? {} : { amount },
    requesters,
    contextAuthors: others.filter((id) => !requesters.includes(id)),
    channel,
  }));

/** Writes a manifest with one tool. */
export function manifestFor(
  rules: readonly ReferenceRule[],
  policies: ReadonlyMap<string, ReferencePolicy>,
  allow: ReferenceTool['allow'],
): string {
  return JSON.stringify({
    slack: { display_information: { name: 'Test' } },
    policies: Object.fromEntries(
      [...policies].map(([name, { groups, excluded, selfApproval, separation }]) => [
        name,
        {
          approvers: { all: groups, ...(excluded.length > 0 && { not: excluded }) },
          self_approval: selfApproval,
          separation,
        },
      ]),
    ),
    tools: {
      [TOOL]: {
        description: 'Acts.',
        input: { type: 'object' },
        target: '{{input.owner}}',
        http: { method: 'POST', url: 'https://example.com/' },
        approval: rules.map(({ when, ...rest }) => ({
          ...rest,
          ...(when !== undefined && { when: when.cel }),
          ...(rest.require === 'deny' && { reason: 'No.' }),
        })),
        ...(Object.values(allow).some((list) => list !== undefined) && { allow }),
      },
    },
  });
}
