import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import { readableName } from '../../../src/tools/presentation/formats.ts';
import { createPresentation, type TextDeclaration } from '../../../src/tools/presentation/presentation.ts';

const inputSchema = z.object({
  orderId: z.string(),
  amount: z.number(),
  reason: z.string().optional(),
  to: z.string().optional(),
});
const refund = defineTool({ name: 'refund_order', description: 'Refunds.', inputSchema }, () => 'ok');
const present = (declared: TextDeclaration, input: unknown, names?: ReadonlyMap<string, string>) =>
  createPresentation(refund, declared).present(input, names);

const TITLE = "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}";

describe('the words about a call', () => {
  test('come from the templates of the manifest', () => {
    const words = present(
      {
        title: TITLE,
        done: "Refunded {{ input.amount | money('USD','cents') }}",
        target: '{{input.orderId}}',
        fields: { Reason: '{{input.reason}}', Amount: '{{input.amount|number}}' },
      },
      { orderId: 'A-1', amount: 12000, reason: 'late' },
    );
    expect(words).toEqual({
      title: 'Refund $120.00 of order A-1',
      done: 'Refunded $120.00',
      target: 'A-1',
      fields: [
        { label: 'Reason', text: 'late' },
        { label: 'Amount', text: '12,000', format: 'number' },
      ],
      hasTitle: true,
      isComplete: true,
    });
  });

  test('without a title are the name of the tool with its first short inputs, and a field for each argument', () => {
    expect(present({}, { to: 'card', orderId: 'A-1', amount: 1 })).toEqual({
      title: 'Refund order A-1: amount 1, to card',
      fields: [
        { label: 'Order id', text: 'A-1', argument: 'orderId', isInTitle: true },
        { label: 'Amount', text: '1', argument: 'amount', isInTitle: true },
        { label: 'To', text: 'card', argument: 'to', isInTitle: true },
      ],
      hasTitle: false,
      isComplete: true,
    });
    expect(present({}, {}).title).toBe('Refund order');
  });

  test('without a title name the values as the schema does, in plain words', () => {
    const scale = defineTool(
      {
        name: 'scale',
        description: 'Scales.',
        inputSchema: z.object({
          service: z.string(),
          low: z.number().meta({ title: 'Min' }),
          most_replicas: z.number().meta({ title: '<b>Max</b>: 40, all is well' }),
        }),
      },
      () => 'ok',
    );
    const words = createPresentation(scale, {}).present({ service: 'checkout', low: 2, most_replicas: 40 });
    expect(words.title).toBe('Scale checkout: min 2, most replicas 40');
  });

  test('have a list of objects as a table, which can be read back', () => {
    const line = z.record(z.string(), z.unknown());
    const order = defineTool(
      {
        name: 'place_order',
        description: 'Orders.',
        inputSchema: z.object({ lines: z.array(line), more: z.union([z.array(line), z.string()]) }),
      },
      () => 'ok',
    );
    const lines = [
      { sku: 'A-1', name: 'Standing desk', count: 2 },
      { sku: '12', count: 1.5, note: 'a | b' },
      { name: '–', 'odd | name': null },
    ];
    const { fields, isComplete } = createPresentation(order, {}).present({ lines, more: [{ a: 1 }] });
    expect(isComplete).toBe(true);
    expect(fields).toEqual([
      {
        label: 'Lines',
        format: 'table',
        argument: 'lines',
        text: [
          'sku  | name          | count | note    | "odd | name"',
          'A-1  | Standing desk | 2     | –       | –',
          '"12" | –             | 1.5   | "a | b" | –',
          '–    | "–"           | –     | –       | null',
        ].join('\n'),
      },
      // A text could look like a table, so that where one is allowed JSON is shown.
      { label: 'More', text: '[{"a":1}]', argument: 'more' },
    ]);
  });

  test('by default set values off, and name only short and plain ones', () => {
    const titled = (orderId: string) => present({}, { orderId, amount: 1 }).title;
    expect(titled('A for Bob')).toBe('Refund order "A for Bob": amount 1');
    expect(titled('A, 900')).toBe('Refund order "A, 900": amount 1');
    for (const long of ['x'.repeat(41), 'two\nlines', '<@U0VICTIM>', '*bold*', '"A"', '\u202Eevil', '', '  '])
      expect(titled(long)).toBe('Refund order: amount 1');
    const deep = defineTool(
      {
        name: 'do_it',
        description: '',
        inputSchema: z.object({ list: z.array(z.string()), flag: z.boolean() }),
      },
      () => 'ok',
    );
    expect(createPresentation(deep, {}).present({ list: ['a'], flag: true }).title).toBe('Do it');
  });

  test('by default label each argument by itself, never like a field of the manifest or a line of the card', () => {
    const alike = defineTool(
      {
        name: 'do_it',
        description: '',
        inputSchema: z.object({
          orderId: z.string().optional(),
          order_id: z.string().optional(),
          why_approval: z.string().optional(),
          customer: z.string().optional(),
          'two words': z.string().optional(),
        }),
      },
      () => 'ok',
    );
    const input = { orderId: 'a', order_id: 'b', why_approval: 'c', customer: 'd' };
    const { fields, isComplete } = createPresentation(alike, { fields: { Customer: 'none' } }).present(input);
    expect(fields.map(({ label }) => label)).toEqual([
      'Customer',
      'orderId',
      'order_id',
      'why_approval',
      'Customer (exact)',
    ]);
    expect(isComplete).toBe(true);
    expect(createPresentation(alike, {}).present({ 'two words': 'x' })).toMatchObject({
      fields: [],
      isComplete: false,
    });
  });

  test('add the arguments that the title and the fields leave out', () => {
    expect(present({ title: TITLE }, { orderId: 'A-1', amount: 1 })).toMatchObject({
      fields: [],
      isComplete: true,
    });
    expect(present({ title: TITLE }, { orderId: 'A-1', amount: 1, reason: 'x' })).toMatchObject({
      fields: [{ label: 'Reason', text: 'x', argument: 'reason' }],
      isComplete: true,
    });
    expect(present({ title: TITLE }, { orderId: { id: 'A-1' }, amount: 1 }).isComplete).toBe(false);
    expect(present({ title: TITLE }, { orderId: 'A-1', amount: 1, sneaky: [] }).isComplete).toBe(false);
  });

  test('leave a field out whose values are missing, and say so in a title', () => {
    const words = present({ title: 'Refund {{input.orderId}}', fields: { Why: '{{input.reason}}' } }, {});
    expect(words.title).toBe('Refund (none)');
    expect(words.fields).toEqual([]);
  });

  test('name people by name and id', () => {
    const declared = { title: 'Pay {{input.to | person}}' };
    expect(createPresentation(refund, declared).peopleIn({ to: 'U012ABCDEF' })).toEqual(['U012ABCDEF']);
    const names = new Map([['U012ABCDEF', 'Remi']]);
    expect(present(declared, { to: 'U012ABCDEF' }, names).title).toBe('Pay Remi (U012ABCDEF)');
    expect(present(declared, { to: 'U012ABCDEF' }).title).toBe('Pay U012ABCDEF');
    const long = new Map([['U012ABCDEF', 'Remi for lunch']]);
    expect(present(declared, { to: 'U012ABCDEF' }, long).title).toBe('Pay "Remi for lunch" (U012ABCDEF)');
  });

  test('read own properties only', () => {
    expect(present({ title: 'x {{input.constructor}} {{input.__proto__}}' }, {}).title).toBe(
      'x (none) (none)',
    );
  });
});

describe('the words of a module', () => {
  const own = defineTool(
    {
      name: 'refund_order',
      description: 'Refunds.',
      inputSchema,
      title: ({ orderId }) => `Refund ${orderId}`,
      target: ({ orderId }) => orderId,
      fields: ({ amount, reason }) => ({ Amount: amount, Reason: reason }),
    },
    () => 'ok',
  );

  test('are computed from the typed input', () => {
    expect(createPresentation(own, {}).present({ orderId: 'A-1', amount: 12 })).toEqual({
      title: 'Refund A-1',
      target: 'A-1',
      fields: [
        { label: 'Amount', text: '12' },
        { label: 'Order id', text: 'A-1', argument: 'orderId' },
      ],
      hasTitle: true,
      isComplete: true,
    });
  });

  test('are completed by the arguments that they do not tell exactly, and these are not shown raw', () => {
    const fields = ({ amount }: z.infer<typeof inputSchema>) => ({ Amount: `€${amount}.00` });
    const listing = defineTool({ name: 't', description: '', inputSchema, fields }, () => 'ok');
    expect(createPresentation(listing, {}).present({ orderId: 'A-1', amount: 12 })).toMatchObject({
      fields: [
        { label: 'Amount', text: '€12.00' },
        { label: 'Order id', text: 'A-1' },
        { label: 'Amount (exact)', text: '12' },
      ],
      isComplete: true,
    });
  });

  test('are complete if every argument is a field, of theirs or added', () => {
    const fields = ({ orderId, amount, reason }: z.infer<typeof inputSchema>) => ({
      Order: orderId,
      Amount: amount,
      Reason: reason === 'hidden' ? undefined : reason,
    });
    const listing = defineTool({ name: 't', description: '', inputSchema, fields }, () => 'ok');
    const present = (input: z.infer<typeof inputSchema>) => createPresentation(listing, {}).present(input);
    const isComplete = (input: z.infer<typeof inputSchema>) => present(input).isComplete;
    const added = (input: z.infer<typeof inputSchema>) =>
      present(input).fields.flatMap(({ argument, text }) =>
        argument === undefined ? [] : [[argument, text]],
      );
    expect(isComplete({ orderId: 'A-1', amount: 1 })).toBe(true);
    expect(isComplete({ orderId: 'A-1', amount: 1, reason: '2' })).toBe(true);
    expect(added({ orderId: 'A-1', amount: 1, reason: '2' })).toEqual([]);
    expect(added({ orderId: 'A-1', amount: 1, reason: 'hidden' })).toEqual([['reason', 'hidden']]);
    expect(added({ orderId: 'hidden', amount: 1, reason: 'hidden' })).toEqual([['reason', 'hidden']]);
    expect(added({ orderId: '', amount: 1 })).toEqual([['orderId', '""']]);
  });

  test('give way to those of the manifest', () => {
    expect(createPresentation(own, { title: 'Other' }).present({ orderId: 'A', amount: 1 }).title).toBe(
      'Other',
    );
  });

  test('that fail leave the title by default', () => {
    const broken = defineTool(
      {
        name: 'delete_it',
        description: '',
        inputSchema,
        title: () => {
          throw new Error('no');
        },
      },
      () => 'ok',
    );
    const words = createPresentation(broken, {}).present({ orderId: 'A', amount: 1 });
    expect(words).toMatchObject({ title: 'Delete it A: amount 1', hasTitle: false });
  });
});

test.each([
  ['refund_order', 'Refund order'],
  ['refundOrder', 'Refund order'],
  ['get-HTTP', 'Get HTTP'],
  ['_', '_'],
])('%s reads %s', (name, words) => {
  expect(readableName(name)).toBe(words);
});

test.each([
  ['A-1001', 'Refund A-1001 now'],
  ['A-1. Approved by Finance', 'Refund "A-1. Approved by Finance" now'],
  ['*Approved* by @Alice\nRun', 'Refund "*Approved* by @Alice\\nRun" now'],
])(
  'the title of a module says %j in quotes unless it is a word, so that it is not read as words of the card',
  (orderId, title) => {
    const tool = defineTool(
      {
        name: 'refund_order',
        description: 'Refunds.',
        inputSchema: z.object({ orderId: z.string() }),
        title: (input) => `Refund ${input.orderId} now`,
      },
      () => null,
    );
    expect(createPresentation(tool, {}).present({ orderId }).title).toBe(title);
  },
);

test('a value within a quoted value gets no quotes of its own, and one beside it does', () => {
  const tool = defineTool(
    {
      name: 'run_command',
      description: 'Runs.',
      inputSchema: z.object({ command: z.string(), script: z.string() }),
      title: ({ command, script }) => `Run “${command}” with ${script}`,
    },
    () => null,
  );
  const { title } = createPresentation(tool, {}).present({ command: './a b.sh --now', script: './a b.sh' });
  expect(title).toBe('Run “./a b.sh --now” with "./a b.sh"');
});
