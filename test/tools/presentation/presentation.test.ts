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

  test('without a title are the name of the tool, and never complete', () => {
    expect(present({}, { orderId: 'A-1', amount: 1 })).toEqual({
      title: 'Refund order',
      fields: [],
      hasTitle: false,
      isComplete: false,
    });
    expect(createPresentation(refund, {}).present({}).isComplete).toBe(true);
  });

  test('are incomplete while an argument appears nowhere', () => {
    expect(present({ title: TITLE }, { orderId: 'A-1', amount: 1 }).isComplete).toBe(true);
    expect(present({ title: TITLE }, { orderId: 'A-1', amount: 1, reason: 'x' }).isComplete).toBe(false);
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
      fields: [{ label: 'Amount', text: '12' }],
      hasTitle: true,
      isComplete: false,
    });
  });

  test('are complete only if every argument is a field of its own', () => {
    const fields = ({ orderId, amount, reason }: z.infer<typeof inputSchema>) => ({
      Order: orderId,
      Amount: amount,
      Reason: reason === 'hidden' ? undefined : reason,
    });
    const listing = defineTool({ name: 't', description: '', inputSchema, fields }, () => 'ok');
    const isComplete = (input: z.infer<typeof inputSchema>) =>
      createPresentation(listing, {}).present(input).isComplete;
    expect(isComplete({ orderId: 'A-1', amount: 1 })).toBe(true);
    expect(isComplete({ orderId: 'A-1', amount: 1, reason: '2' })).toBe(true);
    expect(isComplete({ orderId: 'A-1', amount: 1, reason: 'hidden' })).toBe(false);
    expect(isComplete({ orderId: 'hidden', amount: 1, reason: 'hidden' })).toBe(false);
    expect(isComplete({ orderId: '', amount: 1 })).toBe(false);
  });

  test('give way to those of the manifest', () => {
    expect(createPresentation(own, { title: 'Other' }).present({ orderId: 'A', amount: 1 }).title).toBe(
      'Other',
    );
  });

  test('that fail leave the name of the tool', () => {
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
    expect(words).toMatchObject({ title: 'Delete it', hasTitle: false, isComplete: false });
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
