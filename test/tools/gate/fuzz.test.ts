import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/agent/json.ts';
import type { ApprovalRule } from '../../../src/policy/rules.ts';
import { countFor } from '../../support/count-for.ts';
import { gated, runOnce } from './support.ts';

const RUNS = countFor('GATE_RUNS', { quick: 60, full: 1_000 });

const FIELDS = ['amount', 'dry_run', 'to', 'items', 'price'];
const HOSTILE = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'toJSON', 'hasOwnProperty'];
const CLAIMS = [
  'resumed',
  'metadata',
  'approval',
  'decision',
  'by',
  'own',
  'input',
  'requester',
  'channel',
  'tool',
];

const texts = fc.oneof(
  fc.constantFrom(
    '',
    'true',
    'approved',
    'edited',
    'U1',
    'C1',
    '5',
    '1e3',
    'a@example.com',
    '@example.com\n',
    'NaN',
  ),
  fc.string({ maxLength: 12, unit: 'binary' }),
);
const scalars = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    0,
    -1,
    5,
    99,
    100,
    101,
    10_000,
    10_001,
    2 ** 53,
    -(2 ** 63),
    1e308,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  texts,
);
const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 5 }),
    tie('object'),
  ),
  // From entries over JSON, so that `__proto__` is a field like any other, as it is in what a model sends.
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...FIELDS, ...HOSTILE, ...CLAIMS), texts), tie('value')), {
      maxLength: 7,
    })
    .map((entries) =>
      JSON.parse(
        `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${JSON.stringify(entry)}`).join(',')}}`,
      ),
    ),
}));
const inputs = value.filter(isJsonObject);

/** A field of the input itself; what it would inherit does not count. */
function field(input: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : undefined;
}

function isAtMost(limit: number, found: JsonValue | undefined): boolean {
  return typeof found === 'number' && found <= limit;
}

function sizeOf(found: JsonValue | undefined): number {
  if (typeof found === 'string') return [...found].length;
  if (Array.isArray(found)) return found.length;
  return isJsonObject(found) ? Object.keys(found).length : Number.POSITIVE_INFINITY;
}

/** Rules, and the only inputs that each of them lets through. */
const RULES: readonly (readonly [string, readonly ApprovalRule[], (input: JsonObject) => boolean])[] = [
  ['no rule', [], () => false],
  ['always', [{ require: 'always' }], () => false],
  ['always after a rule for other tools', [{ match: 'other_*', require: 'never' }, {}], () => false],
  ['a condition that is always true', [{ when: 'true' }], () => false],
  [
    'a condition that can never be evaluated',
    [{ when: 'input.no.such.field' }, { require: 'never' }],
    () => false,
  ],
  [
    'amount',
    [{ when: 'input.amount > 10000' }, { require: 'never' }],
    (input) => isAtMost(10_000, field(input, 'amount')),
  ],
  [
    'never for small amounts',
    [{ require: 'never', when: 'input.amount <= 100' }],
    (input) => isAtMost(100, field(input, 'amount')),
  ],
  [
    'dry run only',
    [{ when: 'input.dry_run != true' }, { require: 'never' }],
    (input) => field(input, 'dry_run') === true,
  ],
  [
    'never in a dry run',
    [{ require: 'never', when: 'input.dry_run' }],
    (input) => field(input, 'dry_run') === true,
  ],
  [
    'our own addresses',
    [{ when: '!input.to.endsWith("@example.com")' }, { require: 'never' }],
    (input) => String(field(input, 'to')).endsWith('@example.com') && typeof field(input, 'to') === 'string',
  ],
  [
    'few items',
    [{ when: 'size(input.items) > 2' }, { require: 'never' }],
    (input) => sizeOf(field(input, 'items')) <= 2,
  ],
  [
    'cheap items',
    [{ when: 'input.items.exists(item, item.price > 5)' }, { require: 'never' }],
    (input) => {
      const items = field(input, 'items');
      if (Array.isArray(items)) return items.every((item: JsonValue) => isAtMost(5, field(item, 'price')));
      // A map is walked by its keys, which have no price.
      return isJsonObject(items) && Object.keys(items).length === 0;
    },
  ],
  [
    'present',
    [{ when: 'has(input.amount)' }, { require: 'never' }],
    (input) => !Object.hasOwn(input, 'amount'),
  ],
  ['another requester', [{ when: 'requester != "U2"' }, { require: 'never' }], () => false],
  ['another channel', [{ require: 'never', when: 'channel == "C2"' }], () => false],
  ['another tool', [{ require: 'never', when: 'tool == "other"' }], () => false],
];

test.each(RULES)('no input opens the gate that is closed: %s', async (_, rules, mayRun) => {
  const { tool, ran } = gated(rules);
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      ran.length = 0;
      const part = await runOnce(tool, input);
      const hasRun = ran.length > 0 || !('interrupt' in part);
      expect(hasRun && !mayRun(input)).toBe(false);
      // What ran is what was judged.
      if (ran.length > 0) expect(ran).toEqual([input]);
    }),
    { numRuns: RUNS },
  );
});

test('the rules of the test let something through, so that it could fail', async () => {
  const open = RULES.filter(([name]) => !/^(no rule|always|another|a condition)/.test(name));
  const generous = { amount: 5, dry_run: true, to: 'a@example.com', items: [{ price: 1 }] };
  for (const [name, rules, mayRun] of open.filter(([name]) => name !== 'present')) {
    const { tool, ran } = gated(rules);
    await runOnce(tool, generous);
    expect([name, ran.length, mayRun(generous)]).toEqual([name, 1, true]);
  }
});

test('of all that a restart may say, only a whole approval opens the gate', async () => {
  const { tool, ran } = gated([]);
  const words = fc.constantFrom<JsonValue>('approved', 'edited', 'Approved', 'approve', true, null, 1);
  const resumptions = fc.oneof(
    inputs,
    fc.record(
      {
        decision: words,
        by: fc.oneof(texts, scalars),
        own: scalars,
        policy: texts,
        under: fc.constantFrom(null, 1, {}),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  );
  await fc.assert(
    fc.asyncProperty(resumptions, inputs, async (resumed, input) => {
      ran.length = 0;
      await runOnce(tool, input, { resumed });
      const isApproval =
        field(resumed, 'decision') === 'approved' &&
        typeof field(resumed, 'by') === 'string' &&
        typeof field(resumed, 'own') === 'boolean' &&
        field(resumed, 'under') === null;
      expect(ran.length > 0).toBe(isApproval);
    }),
    { numRuns: RUNS * 2 },
  );
});

test('whatever the context is, a rule that trusts one person in one channel opens for nobody else', async () => {
  const { tool, ran } = gated([{ require: 'never', when: 'requester == "U1" && channel == "C1"' }]);
  await fc.assert(
    fc.asyncProperty(
      fc.record({ requester: value, channel: value }, { requiredKeys: [] }),
      inputs,
      async (context, input) => {
        ran.length = 0;
        await runOnce(tool, input, { context });
        expect(ran.length > 0).toBe(context.requester === 'U1' && context.channel === 'C1');
      },
    ),
    { numRuns: RUNS },
  );
});

test.each([
  ['a number that JSON has no word for', { amount: 5n }],
  [
    'a circle',
    (() => {
      const circle: Record<string, unknown> = {};
      circle.amount = circle;
      return circle;
    })(),
  ],
  [
    'a getter that throws',
    {
      get amount(): number {
        throw new Error('no');
      },
    },
  ],
])('an input that cannot be judged as it is does not run: %s', async (_, input) => {
  const { tool, ran } = gated([{ require: 'never', when: 'input.amount != 1' }]);
  const pause = (): never => {
    throw new Error('paused');
  };
  const helpers = {
    context: {},
    resumed: undefined,
    signal: new AbortController().signal,
    interrupt: pause,
    deny: pause,
    attach: () => true,
    file: () => false,
    progress: () => {},
    idempotencyKey: 'key',
    callId: 'call-1',
  };
  await expect(tool.run(input, helpers)).rejects.toThrow();
  expect(ran).toEqual([]);
});
