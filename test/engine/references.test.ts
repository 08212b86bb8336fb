import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import type { JsonValue } from '../../src/agent/json.ts';
import { incompleteStep } from '../../src/engine/complete-input.ts';
import { mayRefer, referencesIn, replaceReferences, valueIn } from '../../src/engine/references.ts';
import type { Details } from '../../src/engine/request-details.ts';
import { boundProblem } from '../../src/policy/condition.ts';
import { toRisk } from '../../src/policy/policy.ts';
import type { ApprovalVerdict } from '../../src/policy/rules.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import type { ToolEntry } from '../../src/tools/toolbox/toolbox.ts';
import { presentedAs } from '../support/presented-as.ts';

const OUTPUT = {
  id: 'A-1',
  count: 3,
  isOpen: true,
  owner: { mail: 'a@b.c' },
  lines: [{ text: 'x' }],
  none: null,
};
const fill = (input: JsonValue) => replaceReferences(input, ({ path }) => valueIn(OUTPUT, path));

test('a reference that is a whole text keeps the type of its value, one inside a text is written as text', () => {
  expect(fill('{{steps.1.output.count}}')).toBe(3);
  expect(fill('{{ steps.1.output.owner }}')).toEqual({ mail: 'a@b.c' });
  expect(fill('{{steps.1.output.none}}')).toBeNull();
  expect(fill('{{steps.1.output.lines.0.text}}')).toBe('x');
  expect(fill('no. {{steps.1.output.count}} of {{steps.1.output.id}}')).toBe('no. 3 of A-1');
  expect(fill({ a: [{ b: '{{steps.1.output.id}}' }], c: 1 })).toEqual({ a: [{ b: 'A-1' }], c: 1 });
});

test.for([
  '{{steps.1.output.missing}}',
  '{{steps.1.output.owner.name}}',
  '{{steps.1.output.id.length}}',
  '{{steps.1.output.lines.length}}',
  '{{steps.1.output.constructor}}',
  '{{steps.1.output.__proto__}}',
  'text {{steps.1.output.owner}}',
  'text {{steps.1.output.none}}',
])('%s has no value', (text) => {
  expect(fill({ a: text })).toBeUndefined();
});

test('a value that looks like a reference itself is a text, and is not looked up again', () => {
  const again = '{{steps.2.output.id}}';
  expect(replaceReferences({ a: '{{steps.1.output.id}}' }, () => again)).toEqual({ a: again });
});

test('what comes from outside is marked, and a reference means what is in it', () => {
  expect(valueIn({ untrusted_output: { id: 7 } }, ['id'])).toBe(7);
  expect(valueIn({ untrusted_output: { id: 7 }, id: 8 }, ['id'])).toBe(8);
});

test('references are found with their places, and other braces are text', () => {
  expect(referencesIn({ a: ['{{steps.2.output}}'], b: '{{name}} {{ input.x }}' })).toEqual([
    { at: ['a', '0'], step: 2, path: [] },
  ]);
  expect(mayRefer({ a: '{{name}}' })).toBe(false);
  expect(mayRefer({ '{{steps.1.output.id}}': 1 })).toBe(true);
});

test.for([
  ['input.amount <= 5000', undefined],
  ['input.amount <= 5000 && input.customer.startsWith("A")', undefined],
  ['input.amount <=', 'Unexpected'],
  ['requester == "U1"', 'alone'],
  ['now.hour < 5', 'alone'],
  ['first.tool', 'alone'],
  ['tool.reversible == "yes"', 'alone'],
  ['count("refunds") < 5', 'alone'],
  ['input.lines.all(line, input.lines.all(other, other != line))', 'alone'],
] as const)('the bound %s is about the input alone, without loops', ([bound, problem]) => {
  if (problem === undefined) expect(boundProblem(bound)).toBeUndefined();
  else expect(boundProblem(bound)).toContain(problem);
});

const pay = defineTool(
  {
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ customer: z.string(), amount: z.number(), notify: z.boolean().default(true) }),
  },
  () => ({}),
);
const place = { requesters: ['U0REMI0001'], contextAuthors: [], channel: 'C0GENERAL1' };
const asks = (policy: string): ApprovalVerdict => ({ outcome: 'ask', policy, rule: 'pay: always' });

/** Judges a step with this whole input as the start does. */
async function judge(
  input: JsonValue | undefined,
  {
    bounds = [],
    verdict = asks('default'),
    risk = 'low',
    deferred = true,
  }: {
    readonly bounds?: readonly string[];
    readonly verdict?: ApprovalVerdict;
    readonly risk?: string;
    readonly deferred?: boolean;
  } = {},
) {
  const text =
    'slack: { display_information: { name: Bot } }\npolicies: { default: { approvers: [U0ALICE001] }, two: { approvers: [U0ALICE001] } }\n';
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  const own = toRisk(risk);
  const toolbox = {
    policy: (name: string) => {
      const policy = parsed.ok ? parsed.manifest.policies.get(name) : undefined;
      return policy && { ...policy, risk: own };
    },
  };
  const entry = { tool: pay, reversible: 'yes', judge: () => verdict } as unknown as ToolEntry;
  const details: Details = {
    interrupt: {
      id: 'i',
      toolRequest: { name: 'pay', ref: 'r', input: {} },
      metadata: { approval: { policy: 'default', rule: 'pay: always' } },
    },
    idempotencyKey: 'key',
    presented: presentedAs('Pay'),
    policy: { name: 'default', risk: 'low', own: false },
    ...(deferred && { deferred: true as const }),
  };
  return incompleteStep(toolbox, { entry, details, completed: { input, bounds } }, place);
}

const WHOLE = { customer: 'Acme', amount: 40, notify: false };

test('a step whose whole input fits, keeps its bounds and asks for no more than was approved may start', async () => {
  expect(await judge(WHOLE, { bounds: ['input.amount <= 50'] })).toBeUndefined();
  expect(await judge(WHOLE, { verdict: { outcome: 'run', rule: 'pay: never' } })).toBeUndefined();
  expect(await judge(undefined, { deferred: false })).toBeUndefined();
});

test.for([
  ['a value is missing', undefined, {}, 'missing', false],
  ['a value does not fit', { ...WHOLE, amount: 'forty' }, {}, 'unfit', false],
  ['a default would add what nobody saw', { customer: 'Acme', amount: 40 }, {}, 'unfit', true],
  ['the schema would leave something out', { ...WHOLE, more: 1 }, {}, 'unfit', true],
  ['a bound is broken', WHOLE, { bounds: ['input.amount <= 50', 'input.amount <= 30'] }, 'bound', true],
  ['a bound cannot be evaluated', WHOLE, { bounds: ['input.price <= 30'] }, 'bound', true],
  ['a bound is neither true nor false', WHOLE, { bounds: ['input.amount'] }, 'bound', true],
  ['a bound looks at more than the input', WHOLE, { bounds: ['tool == "pay"'] }, 'bound', true],
  ['another policy is asked', WHOLE, { verdict: asks('two') }, 'stricter', true],
  ['another policy is asked as well', WHOLE, { verdict: asks('default + two') }, 'stricter', true],
  ['a rule denies it', WHOLE, { verdict: { outcome: 'deny', rule: 'r', reason: 'no' } }, 'stricter', true],
  ['the risk is higher', WHOLE, { risk: 'medium' }, 'stricter', true],
  ['the risk cannot be told', WHOLE, { risk: 'input.missing' }, 'stricter', true],
] as const)('a step does not start if %s', async ([, input, options, problem, isAsked]) => {
  const refusal = await judge(input, options);
  expect(refusal).toMatchObject({ code: 'incomplete', problem });
  expect(refusal?.code === 'incomplete' && refusal.input !== undefined).toBe(isAsked);
});
