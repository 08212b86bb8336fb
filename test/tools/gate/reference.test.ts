import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../../src/agent/json.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import { countFor } from '../../support/count-for.ts';
import {
  type Condition,
  type ReferenceCall,
  type ReferencePolicy,
  type ReferenceRule,
  type ReferenceVerdict,
  referenceVerdict,
} from './reference.ts';
import { runOnce } from './support.ts';

const RUNS = countFor('GATE_REFERENCE', { quick: 60, full: 2_000 });

const PEOPLE = ['U0ANN00001', 'U0BEN00002', 'U0CID00003', 'U0DOT00004'];
const TOOL = 'act_now';
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
  fc.constant({ cel: 'channel == "C1"', holds: ({ channel }: ReferenceCall) => channel === 'C1' }),
  fc.constant({ cel: 'has(input.amount)', holds: ({ input }: ReferenceCall) => 'amount' in input }),
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
);

function not(holds: Condition['holds']): Condition['holds'] {
  return (call, who) => {
    const result = holds(call, who);
    return result === undefined ? undefined : !result;
  };
}

/** In CEL a false side decides, whether the other can be evaluated or not. */
function both(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  if (one === false || other === false) return false;
  return one === undefined || other === undefined ? undefined : true;
}

const rule: fc.Arbitrary<ReferenceRule> = fc.record(
  {
    match: fc.constantFrom('*', 'act*', 'other*', TOOL),
    require: fc.constantFrom('never', 'always', 'deny'),
    when: condition,
    policy: fc.constantFrom('default', 'one', 'two'),
  },
  { requiredKeys: [] },
);
const policy: fc.Arbitrary<ReferencePolicy> = fc.record({
  groups: fc.array(fc.record({ quorum: fc.integer({ min: 1, max: 2 }) }), { minLength: 1, maxLength: 2 }),
  selfApproval: fc.boolean(),
  separation: fc.constantFrom('requesters', 'thread'),
});
const call: fc.Arbitrary<ReferenceCall> = fc
  .record({
    amount: fc.constantFrom<unknown>(undefined, 0, 5, 10, 15, 21, '7', null),
    requesters: fc.shuffledSubarray(PEOPLE, { minLength: 1, maxLength: 2 }),
    others: fc.shuffledSubarray(PEOPLE, { maxLength: 2 }),
    channel: fc.constantFrom('C1', 'C2'),
  })
  .map(({ amount, requesters, others, channel }) => ({
    tool: TOOL,
    input: amount === undefined ? {} : { amount },
    requesters,
    contextAuthors: others.filter((id) => !requesters.includes(id)),
    channel,
  }));

function manifestFor(
  rules: readonly ReferenceRule[],
  policies: ReadonlyMap<string, ReferencePolicy>,
  people: readonly string[] | undefined,
): string {
  return JSON.stringify({
    slack: { display_information: { name: 'Test' } },
    policies: Object.fromEntries(
      [...policies].map(([name, { groups, selfApproval, separation }]) => [
        name,
        {
          approvers: { all: groups.map(({ quorum }) => ({ any: ['S0APPROVE1'], quorum })) },
          self_approval: selfApproval,
          separation,
        },
      ]),
    ),
    tools: {
      [TOOL]: {
        description: 'Acts.',
        input: { type: 'object' },
        http: { method: 'POST', url: 'https://example.com/' },
        approval: rules.map(({ when, ...rest }) => ({
          ...rest,
          ...(when !== undefined && { when: when.cel }),
          ...(rest.require === 'deny' && { reason: 'No.' }),
        })),
        ...(people !== undefined && { allow: { people } }),
      },
    },
  });
}

test(`for ${RUNS} random manifests the gate does with a call what the plain reference says`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 4 }),
      fc.tuple(policy, policy, policy),
      fc.option(fc.subarray(PEOPLE, { minLength: 3 }), { nil: undefined, freq: 3 }),
      fc.array(call, { minLength: 1, maxLength: 4 }),
      async (rules, [first, one, two], people, calls) => {
        const policies = new Map([
          ['default', first],
          ['one', one],
          ['two', two],
        ]);
        const text = manifestFor(rules, policies, people);
        const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
        if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
        const log = { info: () => {}, warn: () => {} };
        const toolbox = await openToolbox(parsed.manifest, { folder: '.', secrets: new Secrets(), log });
        for (const given of calls) {
          const expected = referenceVerdict({ rules, allow: { people } }, policies, given);
          expect(await gateVerdict(toolbox, given)).toEqual(expected);
        }
        await toolbox.close();
      },
    ),
    { numRuns: RUNS },
  );
});

type Toolbox = Awaited<ReturnType<typeof openToolbox>>;

/** Sends a call through the gate, with its function replaced so that nothing is sent. */
async function gateVerdict(toolbox: Toolbox, given: ReferenceCall): Promise<ReferenceVerdict> {
  const tool = toolbox.find(given.tool)?.tool;
  if (tool?.kind !== 'tool' || tool.admit === undefined) throw new Error('The tool has no gate');
  const { requesters, contextAuthors, channel } = given;
  const { admit } = tool;
  const harmless = {
    ...tool,
    inputSchema: { ...tool.inputSchema },
    admit: async (input: unknown, helpers: Parameters<typeof admit>[1]) => {
      await admit(input, helpers);
      return () => 'ran';
    },
  };
  const context = { requester: requesters[0], requesters, contextAuthors, channel, threadId: 'T1' };
  const part = await runOnce(harmless, toJson(given.input), { context });
  if ('interrupt' in part) {
    const approval = part.interrupt.metadata?.approval as { policy: string } | undefined;
    return { ask: approval?.policy ?? '' };
  }
  return part.status === 'denied' ? 'deny' : 'run';
}
