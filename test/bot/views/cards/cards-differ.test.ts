import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/agent/define-tool.ts';
import { canonicalJson, type JsonObject, toJson } from '../../../../src/agent/json.ts';
import { APPROVE } from '../../../../src/bot/views/cards/action-ids.ts';
import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import { createPresentation, type TextDeclaration } from '../../../../src/tools/presentation/presentation.ts';
import { countFor } from '../../../support/count-for.ts';
import { actionsIn, textIn } from './payloads.ts';
import { detailsFor, recordOf } from './records.ts';

const RUNS = countFor('TITLE_PAIRS', { quick: 200, full: 2_000 });

const action = (inputSchema: z.ZodType | JsonObject, own: object = {}) =>
  defineTool({ name: 'do_it', description: 'Does it.', inputSchema, ...own }, () => 'ok');

function cardOf(
  tool: ReturnType<typeof action>,
  declared: TextDeclaration,
  input: JsonObject,
  names?: Names,
) {
  const presented = toJson(createPresentation(tool, declared).present(input, names));
  return buildCard(recordOf({ details: detailsFor(input, { presented }, 'do_it') }), { view: 'thread' });
}
type Names = ReadonlyMap<string, string>;

const refund = action(z.object({ amount: z.number(), name: z.string(), to: z.string().optional() }));
const seen = (declared: TextDeclaration, input: JsonObject) => textIn(cardOf(refund, declared, input).blocks);

test('a value of several words stands in quotes in a title, and a single word does not', () => {
  const title = "Refund {{input.amount | money('USD', 'units')}} for {{input.name}}";
  expect(seen({ title }, { amount: 5, name: 'A for Bob' })).toContain('Refund $5.00 for "A for Bob"');
  expect(seen({ title }, { amount: 5, name: 'Bob' })).toContain('Refund $5.00 for Bob?\n');
});

test('a value cannot make a title say another amount', () => {
  const title = "Refund {{input.name}} {{input.amount | money('USD', 'units')}}";
  expect(seen({ title }, { amount: 5, name: 'Bob' })).toContain('Refund Bob $5.00');
  for (const name of ['$900.00 for Bob', '$900.00', 'US$900', '"$900.00', '(none)', '900,00', '900%'])
    expect(seen({ title }, { amount: 5, name })).toContain(`Refund ${JSON.stringify(name)} $5.00`);
});

test('the arguments stand beside a title that could be read in two ways', () => {
  const beside = (title: string, input: JsonObject) => seen({ title }, input).includes('Name');
  expect(beside('Refund {{input.amount}} for {{input.name}}', { amount: 5, name: 'x' })).toBe(false);
  expect(beside('Refund {{input.name}}{{input.amount}}', { amount: 5, name: 'x1' })).toBe(false);
  expect(beside('Refund {{input.amount}}{{input.name}}', { amount: 5, name: 'x' })).toBe(true);
  const lasting =
    "Wait {{input.amount | duration}} {{input.amount | duration('minutes')}} for {{input.name}}";
  expect(beside(lasting, { amount: 5, name: 'x' })).toBe(true);
});

test('the title of a module does not stand for its arguments, its fields do', () => {
  const inputSchema = z.object({ from: z.string(), to: z.string() });
  const titled = action(inputSchema, {
    title: ({ from, to }: z.infer<typeof inputSchema>) => `Move ${from} to ${to}`,
  });
  const twice = [
    { from: 'a to b', to: 'c' },
    { from: 'a', to: 'b to c' },
  ].map((input) => textIn(cardOf(titled, {}, input).blocks));
  expect(new Set(twice).size).toBe(2);
  const labelled = action(inputSchema, {
    title: () => 'Move something',
    fields: ({ from, to }: z.infer<typeof inputSchema>) => ({ From: from, To: to }),
  });
  const shown = textIn(cardOf(labelled, {}, { from: 'a to b', to: 'c' }).blocks);
  expect(shown).toContain('a to b');
  expect(shown).not.toContain('from: ');
});

const piece = fc.constantFrom(
  ...['a', 'b', ' ', ' for ', ' and ', ', ', '"', '\\', '(none)', '5', '5.00', '$5.00', '.', '-', ':', '\n'],
  ...['null', 'true', '1 h', '[]', '1970-01-01', 'T00:00', ':00', 'Z', '.000', 'U0AAAAAAA', 'A (U0AAAAAAA)'],
);
const text = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(''));
const number = fc.constantFrom(0, 5, 5.5, 60, 3600, 3660, 5400, -5, 500, 0.05, 1024, 1e21, 55);
const leaf = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 3, arbitrary: number },
  fc.constantFrom(null, true, false),
);
const list = fc.array(fc.oneof(text, number), { maxLength: 3 });
const cell = fc.constantFrom('a', 'b | 1', '1', '"', '–', ' ', 'a  b', 'null', '[]', '', 1, null, true, 5.5);
const rows = fc.array(fc.dictionary(fc.constantFrom('x', 'y', 'x | y', '"'), cell, { maxKeys: 3 }), {
  maxLength: 3,
});

/** Schemas that say everything, something and nothing about the types of the values. */
const typed = z.object({
  s: z.string().optional(),
  t: z.string().optional(),
  n: z.number().optional(),
  m: z.number().optional(),
  l: z.array(z.union([z.string(), z.number()])).optional(),
  o: z.array(z.record(z.string(), z.unknown())).optional(),
});
const mixed = z.object({
  s: z.union([z.string(), z.number()]).optional(),
  t: z.string().nullable().optional(),
  n: z.union([z.string(), z.number()]).optional(),
  m: z.number().nullable().optional(),
  l: z.union([z.array(z.union([z.string(), z.number()])), z.string()]).optional(),
  o: z.union([z.array(z.record(z.string(), z.unknown())), z.string()]).optional(),
});
const untyped = { type: 'object', additionalProperties: true };

const input = fc
  .record(
    { s: leaf, t: leaf, n: leaf, m: leaf, l: fc.oneof(list, leaf), o: fc.oneof(rows, leaf) },
    { requiredKeys: [] },
  )
  .map((given): JsonObject => toJson(given) as JsonObject);
const typedInput = fc
  .record({ s: text, t: text, n: number, m: number, l: list, o: rows }, { requiredKeys: [] })
  .map((given): JsonObject => toJson(given) as JsonObject);

const FORMATS = [
  "money('USD', 'units')",
  "money('USD', 'cents')",
  'number',
  'percent',
  'date',
  'duration',
  'bytes',
];
const placeholder = fc
  .tuple(
    fc.constantFrom('s', 't', 'n', 'm', 'l', 'o'),
    fc.option(fc.constantFrom(...FORMATS, 'list', 'code', 'person', 'channel')),
  )
  .map(([name, format]) => `{{input.${name}${format === null ? '' : ` | ${format}`}}}`);
const between = fc.constantFrom('', ' ', ' for ', ' and ', ', ', '.', '-', ': ', '"', ' #', '%');
const template = fc
  .array(fc.tuple(placeholder, between), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.flat().join(''));

const declared = fc.record({
  title: template.map((written) => `Do ${written}`),
  fields: fc.dictionary(fc.constantFrom('One', 'Two', 'Three'), template, { maxKeys: 3 }),
});
const names: Names = new Map([['U0AAAAAAA', 'A']]);

test('two different calls never have the same card, with titles of the manifest and without', () => {
  fc.assert(
    fc.property(
      fc.oneof({ weight: 2, arbitrary: declared }, fc.constant({})),
      fc.oneof(
        fc.tuple(fc.constant(typed), fc.array(typedInput, { minLength: 2, maxLength: 40 })),
        fc.tuple(fc.constantFrom(mixed, untyped), fc.array(input, { minLength: 2, maxLength: 40 })),
      ),
      (texts, [schema, inputs]) => {
        const tool = action(schema);
        const byCard = new Map<string, JsonObject>();
        const named = JSON.stringify(texts);
        for (const given of inputs) {
          // An argument that is named nowhere is a field by itself, and would hide what a title leaves open.
          const each = Object.fromEntries(
            Object.entries(given).filter(([name]) => named === '{}' || named.includes(`input.${name}`)),
          );
          const parsed = tool.inputSchema.parse(each);
          if (!parsed.ok) continue;
          const { blocks } = cardOf(tool, texts, each, names);
          if (!actionsIn(blocks).includes(APPROVE)) continue;
          const before = byCard.get(JSON.stringify(blocks));
          if (before !== undefined) expect(canonicalJson(before)).toBe(canonicalJson(each));
          byCard.set(JSON.stringify(blocks), each);
        }
      },
    ),
    { numRuns: RUNS },
  );
});
