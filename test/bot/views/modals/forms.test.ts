import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalJson, type JsonValue } from '../../../../src/agent/json.ts';
import { compileSchema, type Schema } from '../../../../src/agent/schema/compile-schema.ts';
import { parseSubmission } from '../../../../src/bot/views/modals/fields/read-field.ts';
import { fieldsOf } from '../../../../src/bot/views/modals/fields/schema-fields.ts';
import { buildEditModal, buildOutputModal } from '../../../../src/bot/views/modals/form-modal.ts';
import type { FormatCall } from '../../../../src/tools/presentation/formats.ts';
import { countFor } from '../../../support/count-for.ts';
import { expectValidModal, nodesIn, problemsOfModal } from '../cards/payloads.ts';
import { detailsFor, recordOf } from '../cards/records.ts';
import { anyInput, anyText } from '../cards/values.ts';
import { stateOf } from './submit.ts';

const compiled = (schema: Schema) => compileSchema(schema, 'test', 'inputSchema');

function edit(schema: Schema, input: JsonValue, formats: Readonly<Record<string, FormatCall>> = {}) {
  const formatOf = ([name = '']: readonly string[]) => formats[name];
  const built = buildEditModal(recordOf({ details: detailsFor(input) }), compiled(schema), formatOf);
  if (!built.ok) throw new Error(built.reason);
  expectValidModal(built.view);
  return built.view;
}

function fill(schema: Schema) {
  const built = buildOutputModal(recordOf({ kind: 'form' }), compiled(schema));
  if (!built.ok) throw new Error(built.reason);
  expectValidModal(built.view);
  return built.view;
}

const elementTypes = (view: ReturnType<typeof edit>) =>
  view.blocks.flatMap((block) =>
    block.type === 'input' ? [`${block.element.type}/${block.element.action_id}`] : [],
  );

const Order = z.object({
  note: z.string().describe('what to write'),
  count: z.int().min(1).max(9),
  price: z.number(),
  urgent: z.boolean(),
  size: z.enum(['S', 'M', 'L']),
  day: z.iso.date(),
  at: z.iso.datetime(),
  mail: z.email(),
  link: z.url(),
  tags: z.array(z.string()),
  sizes: z.array(z.enum(['S', 'M', 'L'])),
  numbers: z.array(z.number()),
  address: z.object({ city: z.string().min(2) }),
  extra: z.string().optional(),
  gift: z.boolean().optional(),
  until: z.string().nullable(),
});
const order = {
  note: 'two\nlines',
  count: 3,
  price: 0.1 + 0.2,
  urgent: false,
  size: 'M',
  day: '2026-03-01',
  at: '2026-03-01T09:30:00Z',
  mail: 'a@example.com',
  link: 'https://example.com/a',
  tags: ['a', 'b c'],
  sizes: ['S', 'L'],
  numbers: [1, -2.5],
  address: { city: 'Rome' },
  until: null,
};

describe('a form made from a schema', () => {
  test('has an input of its own for each kind of value', () => {
    const view = edit(Order, order);
    expect(elementTypes(view)).toEqual([
      'plain_text_input/text',
      'number_input/number',
      'number_input/number',
      'radio_buttons/boolean',
      'static_select/choice',
      'datepicker/date',
      'datetimepicker/moment',
      'email_text_input/email',
      'url_text_input/url',
      'plain_text_input/lines',
      'multi_static_select/choices',
      'plain_text_input/lines',
      'plain_text_input/json',
      'plain_text_input/text',
      'static_select/boolean',
      'plain_text_input/text',
    ]);
    const [note, count] = view.blocks.filter((block) => block.type === 'input');
    expect(note).toMatchObject({ label: { text: 'Note' }, hint: { text: 'what to write' }, optional: false });
    expect(count?.element).toMatchObject({ min_value: '1', max_value: '9', is_decimal_allowed: false });
  });

  test('labels an input in words, and with its name if another one would read the same', () => {
    const properties = Object.fromEntries(
      ['orderId', 'dueDate', 'due_date'].map((name) => [name, { type: 'string' }]),
    );
    const labels = fieldsOf({ type: 'object', properties }).map(({ label }) => label);
    expect(labels).toEqual(['Order id', 'dueDate', 'due_date']);
  });

  test('that is submitted untouched gives back what it began with', () => {
    expect(parseSubmission(compiled(Order), stateOf(edit(Order, order)))).toEqual({ ok: true, value: order });
  });

  test('that is left empty says below each input what is missing', () => {
    const result = parseSubmission(compiled(Order), stateOf(fill(Order)));
    expect(result.ok ? [] : Object.keys(result.errors)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 12].map((index) => `field-${index}`),
    );
  });

  test.each<[string, string, object, string]>([
    [
      'a number that is none',
      'field-1',
      { value: 'three' },
      'Count: "three" is not a number. Enter one such as 12 or 12.5.',
    ],
    [
      'a number that would be rounded',
      'field-2',
      { value: '9007199254740993' },
      'Price: This number has too many digits to store exactly. Use fewer digits.',
    ],
    ['a number out of bounds', 'field-1', { value: '10' }, 'Count: Enter at most 9.'],
    [
      'a choice that is none',
      'field-4',
      { selected_option: { value: '3' } },
      "Size: This isn't one of the choices.",
    ],
    [
      'a list with a wrong item',
      'field-11',
      { value: '1\nx' },
      'Numbers: "x" is not a number. Enter one such as 12 or 12.5.',
    ],
    [
      'JSON of the wrong shape',
      'field-12',
      { value: '{"city":"R"}' },
      'Address: city: Too small: expected string to have >=2 characters',
    ],
    ['an address that is none', 'field-7', { value: 'nobody' }, 'Mail: Invalid email address'],
  ])('puts %s below its own input', (_, blockId, change, message) => {
    const result = parseSubmission(compiled(Order), stateOf(edit(Order, order), { [blockId]: change }));
    expect(result).toEqual({ ok: false, errors: { [blockId]: message } });
  });

  test('says that a text is not JSON', () => {
    const result = parseSubmission(
      compiled(Order),
      stateOf(edit(Order, order), { 'field-12': { value: '{city' } }),
    );
    expect(result.ok ? '' : result.errors['field-12']).toMatch(/^Address: This is not JSON: /);
  });

  describe('that edits what a card shows in a format', () => {
    const Payment = z.object({
      amount: z.int().positive().max(50_000),
      share: z.number().optional(),
      wait: z.int(),
      size: z.int(),
      at: z.int(),
      due: z.string(),
      fee: z.int().nullable(),
    });
    const usd = { name: 'money', args: ['USD', 'cents'] };
    const formats = {
      amount: usd,
      share: { name: 'percent', args: [] },
      wait: { name: 'duration', args: [] },
      size: { name: 'bytes', args: [] },
      at: { name: 'date', args: ['ms'] },
      due: { name: 'date', args: [] },
      fee: usd,
    };
    const payment = {
      amount: 15_000,
      share: 0.075,
      wait: 5_400,
      size: 1_536,
      at: 1_700_000_000_000,
      due: '2026-12-01',
      fee: null,
    };
    const submit = (changes: Readonly<Record<string, object>> = {}) =>
      parseSubmission(compiled(Payment), stateOf(edit(Payment, payment, formats), changes));

    test('has its values as they are shown, and gives them back', () => {
      const view = edit(Payment, payment, formats);
      const inputs = view.blocks.filter((block) => block.type === 'input');
      expect(
        inputs.map(({ element }) => {
          const { initial_value, initial_date } = { initial_value: '', initial_date: '', ...element };
          return `${initial_value}${initial_date}`;
        }),
      ).toEqual([
        '150.00',
        '7.5%',
        '1 h 30 min',
        '1,536 bytes',
        '14 Nov 2023, 22:13:20 UTC',
        '2026-12-01',
        '',
      ]);
      expect(inputs[0]?.hint?.text).toBe('An amount in USD, such as 150.00');
      expect(submit()).toEqual({ ok: true, value: payment });
    });

    test('reads what people write', () => {
      const changes = {
        'field-0': { value: '$110' },
        'field-1': { value: '33.3 %' },
        'field-2': { value: '2h' },
        'field-3': { value: '2 MB' },
        'field-4': { value: '2026-11-17 15:04' },
        'field-6': { value: '0.10' },
      };
      const value = {
        amount: 11_000,
        share: 0.333,
        wait: 7_200,
        size: 2_097_152,
        at: Date.UTC(2026, 10, 17, 15, 4),
        due: '2026-12-01',
        fee: 10,
      };
      expect(submit(changes)).toEqual({ ok: true, value });
    });

    test.each([
      ['field-0', 'a lot', 'Amount: Enter an amount in USD, such as 150.00.'],
      ['field-0', '€110', 'Amount: Enter an amount in USD, such as 150.00.'],
      ['field-0', '1,50', 'Amount: Enter an amount in USD, such as 150.00.'],
      ['field-0', '1.005', 'Amount: Enter an amount in USD, such as 150.00.'],
      ['field-0', '600', 'Amount: Enter at most $500.00.'],
      ['field-0', '-5', 'Amount: Enter more than $0.00.'],
      ['field-1', 'half', 'Share: Enter a percentage, such as 25%.'],
      ['field-2', '90', 'Wait: Enter a duration, such as 1 h 30 min.'],
      ['field-3', '1.1 KB', 'Size: Enter a size, such as 2,097,152 bytes.'],
      ['field-4', '30 Feb 2026, 10:00 UTC', 'At: Enter a date and time, such as 17 Nov 2026, 15:00 UTC.'],
    ])('names the field of a wrong value and says what is expected: %s %s', (field, value, message) => {
      expect(submit({ [field]: { value } })).toEqual({ ok: false, errors: { [field]: message } });
    });

    test('is read as it was shown, also if the manifest says another unit by now', () => {
      const shown = edit(Payment, payment, { ...formats, amount: { name: 'money', args: ['USD', 'units'] } });
      const result = parseSubmission(compiled(Payment), stateOf(shown, { 'field-0': { value: '200.00' } }));
      expect(result).toEqual({ ok: true, value: { ...payment, amount: 200 } });
    });
  });

  test('begins with the defaults of the schema when it is to be filled in, and not when it is edited', () => {
    const schema = { type: 'object', properties: { size: { type: 'string', default: 'M' } } };
    expect(parseSubmission(compiled(schema), stateOf(fill(schema)))).toEqual({
      ok: true,
      value: { size: 'M' },
    });
    expect(parseSubmission(compiled(schema), stateOf(edit(schema, {})))).toEqual({ ok: true, value: {} });
  });

  test.each<[string, Schema, JsonValue, string]>([
    ['a text alone', z.string(), 'x', 'plain_text_input/text'],
    ['a choice alone', { enum: ['a', null, 3] }, null, 'static_select/choice'],
    [
      'titled choices',
      {
        oneOf: [
          { const: 1, title: 'One' },
          { const: 2, title: 'Two' },
        ],
      },
      2,
      'static_select/choice',
    ],
    ['an open object', { type: 'object' }, { a: [1, { b: null }] }, 'plain_text_input/json'],
    [
      'an object with alternatives',
      { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }] },
      { a: 1 },
      'plain_text_input/json',
    ],
    [
      'an object with a property more',
      { type: 'object', properties: { a: { type: 'string' } } },
      { a: 'x', b: 1 },
      'plain_text_input/json',
    ],
    [
      'a text that hides something',
      { type: 'object', properties: { a: { type: 'string' } } },
      { a: 'x\u202Ey' },
      'plain_text_input/json',
    ],
    [
      'an empty text',
      { type: 'object', properties: { a: { type: 'string' } } },
      { a: '' },
      'plain_text_input/json',
    ],
    [
      'an empty list that need not be',
      { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
      { a: [] },
      'plain_text_input/json',
    ],
    [
      'a moment with a zone',
      { type: 'object', properties: { a: { type: 'string', format: 'date-time' } } },
      { a: '2026-03-01T09:30:00+02:00' },
      'plain_text_input/json',
    ],
    [
      'a number with an exponent',
      { type: 'object', properties: { a: { type: 'number' } } },
      { a: 1e21 },
      'plain_text_input/json',
    ],
    [
      'a number out of bounds',
      { type: 'object', properties: { a: { type: ['number', 'null'] } } },
      { a: -1 },
      'number_input/number',
    ],
    [
      'a reference',
      { type: 'object', properties: { a: { $ref: '#/$defs/size' } }, $defs: { size: { enum: ['S', 'M'] } } },
      { a: 'M' },
      'static_select/choice',
    ],
  ])('takes %s, exactly', (_, schema, value, type) => {
    const view = edit(schema, value);
    expect(elementTypes(view)).toEqual([type]);
    expect(parseSubmission(compiled(schema), stateOf(view))).toEqual({ ok: true, value });
  });

  test('has a menu in groups for very many choices', () => {
    const sizes = Array.from({ length: 250 }, (_, index) => `size ${index}`);
    const view = edit({ type: 'object', properties: { size: { enum: sizes } } }, { size: 'size 249' });
    expect(
      nodesIn(view).filter(({ label, options }) => label !== undefined && options !== undefined),
    ).toHaveLength(3);
    expect(
      parseSubmission(compiled({ type: 'object', properties: { size: { enum: sizes } } }), stateOf(view)),
    ).toEqual({
      ok: true,
      value: { size: 'size 249' },
    });
  });

  test('is one input when there are more properties than a modal is good for', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    expect(elementTypes(edit({ type: 'object', properties }, { p0: 'x' }))).toEqual([
      'plain_text_input/json',
    ]);
  });

  test('is refused with a sentence when a value is longer than Slack takes', () => {
    const request = recordOf({ details: detailsFor({ a: 'x'.repeat(3_001) }) });
    const built = buildEditModal(
      request,
      compiled({ type: 'object', properties: { a: { type: 'string' } } }),
    );
    expect(built).toEqual({
      ok: false,
      reason: `"A" has 3,001 characters, but Slack forms allow at most 3,000, so it can't be edited here. Reject it with a reason, and the agent can propose a corrected version.`,
    });
  });

  test('carries the id of the request and a page, and nothing else', () => {
    expect(edit(Order, order).private_metadata).toBe(JSON.stringify({ requestId: recordOf().id, page: 0 }));
  });

  test('of any open schema gives any value back that it can hold', () => {
    const property = fc.constantFrom<JsonValue>(
      {},
      { type: 'string' },
      { type: 'number' },
      { type: 'array', items: { type: 'string' } },
      { type: 'boolean' },
    );
    const schemas = fc.dictionary(anyText, property, { maxKeys: 6 });
    fc.assert(
      fc.property(anyInput, schemas, fc.boolean(), (input, extra, isTyped) => {
        const names =
          typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.keys(input) : [];
        // A schema cannot be compiled with half a character in a name, or with this one.
        fc.pre(!/\p{Cs}/u.test([...names, ...Object.keys(extra)].join(' ')));
        fc.pre(![...names, ...Object.keys(extra)].includes('__proto__'));
        const own = Object.fromEntries(names.map((name) => [name, {}]));
        const schema = compiled({
          type: isTyped ? 'object' : ['object', 'array'],
          properties: { ...own, ...extra },
        });
        const built = buildEditModal(recordOf({ details: detailsFor(input) }), schema);
        if (!built.ok) return;
        expect(problemsOfModal(built.view)).toEqual([]);
        const result = parseSubmission(schema, stateOf(built.view));
        if (schema.parse(input).ok)
          expect(result.ok && canonicalJson(result.value)).toBe(canonicalJson(input));
        else expect(result.ok).toBe(false);
      }),
      { numRuns: countFor('FORM_RUNS', { quick: 100, full: 3_000 }) },
    );
  });
});
