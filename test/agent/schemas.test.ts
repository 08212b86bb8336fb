import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { compileSchema, type JsonSchema, type Schema } from '../../src/agent/schema/compile-schema.ts';
import { defineTool, generate } from '../../src/index.ts';
import { call, calls, says, scripted, sentResults } from './support.ts';

const compile = (schema: JsonSchema) => compileSchema(schema, 'foreign', 'inputSchema');
const object = (keywords: JsonSchema): JsonSchema => ({ type: 'object', ...keywords });

describe('a schema that refers to itself', () => {
  const tree = object({
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['name'],
  });
  test.each([
    ['as a whole', tree],
    ['as a whole, in an old draft', { ...tree, $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['by its own address', { ...tree, $id: 'https://example.com/tree' }],
    [
      'by a definition',
      object({
        properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } }, name: {} },
        required: ['name'],
        $defs: { node: { ...tree, properties: { ...(tree.properties as object), root: { $ref: '#' } } } },
      }),
    ],
  ])('%s checks every level of a value', (_how, schema) => {
    const { parse } = compile(schema);
    expect(parse({ name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] }).ok).toBe(true);
    expect(parse({ name: 'a', children: [{ name: 'b', children: [{}] }] })).toMatchObject({
      ok: false,
      field: 'children.0.children.0.name',
    });
  });

  test.each([
    ['itself', object({ $ref: '#' }), '#'],
    ['itself in a list', object({ allOf: [{ $ref: '#' }] }), '#'],
    ['itself as an alternative', object({ anyOf: [{ type: 'string' }, { $ref: '#' }] }), '#'],
    [
      'each other',
      object({
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { $ref: '#/$defs/b' }, b: { not: { $ref: '#/$defs/a' } } },
      }),
      '#/$defs/a',
    ],
  ])('for the same value is refused when it is defined: definitions that mean %s', (_what, schema, at) => {
    expect(() => compile(schema)).toThrow(
      `Tool "foreign": its inputSchema cannot be used: its references lead in a circle at "${at}"`,
    );
  });

  test.each([
    [
      'a property named "__proto__"',
      JSON.parse('{ "type": "object", "properties": { "__proto__": { "type": "number" } } }'),
    ],
    ['"$dynamicRef"', object({ properties: { a: { $dynamicRef: '#node' } }, $dynamicAnchor: 'node' })],
    [
      '"unevaluatedItems"',
      object({ properties: { a: { contains: { const: 1 }, unevaluatedItems: false } } }),
    ],
    [
      '"$id" beside "$ref"',
      object({ properties: { a: { $id: 'other.json', $ref: '#/$defs/b' } }, $defs: { b: {} } }),
    ],
    [
      '"unevaluatedProperties" with an "if" that lacks "then" or "else"',
      object({ if: { required: ['a'] }, else: { properties: { b: {} } }, unevaluatedProperties: false }),
    ],
  ])('is refused when it has %s, which would let values pass that do not fit', (what, schema) => {
    expect(() => compile(schema)).toThrow(`${what} is not supported: it cannot be checked exactly`);
  });

  test('does not fit a value that is nested too deeply to check', () => {
    const depth = 20_000;
    const deep = JSON.parse(`${'{"child":'.repeat(depth)}{}${'}'.repeat(depth)}`);
    expect(compile(object({ properties: { child: { $ref: '#' } } })).parse(deep)).toEqual({
      ok: false,
      field: '',
      problem: 'it could not be checked, because it is nested too deeply',
    });
  });

  test('sees nothing of another schema with the same id', () => {
    const withId = (type: string) =>
      object({
        properties: { a: { $id: 'https://example.com/a', type }, b: { $ref: 'https://example.com/a' } },
      });
    expect(compile(withId('string')).parse({ b: 'x' }).ok).toBe(true);
    expect(compile(withId('number')).parse({ b: 'x' }).ok).toBe(false);
  });
});

describe.each([
  [
    'a JSON Schema',
    compile(object({ properties: { constructor: { type: 'string' } } })),
    compile(object({ required: ['toString'] })),
  ],
  [
    'a zod schema',
    compileSchema(z.object({ constructor: z.string().optional() }), 'own', 'inputSchema'),
    compileSchema(z.object({ toString: z.string() }), 'own', 'inputSchema'),
  ],
])('names that every object inherits, in %s', (_kind, optional, required) => {
  test('are no properties of a value that leaves them out', () => {
    expect([optional.parse({}).ok, optional.parse({ constructor: 'x' }).ok]).toEqual([true, true]);
    expect(optional.parse({ constructor: 1 }).ok).toBe(false);
    expect([required.parse({}).ok, required.parse({ toString: 'x' }).ok]).toEqual([false, true]);
  });
});

describe('a schema of another library', () => {
  const order = v.object({ id: v.string(), amount: v.optional(v.pipe(v.number(), v.maxValue(100)), 5) });

  test('is checked by that library, and described to the model', async () => {
    const seen: unknown[] = [];
    const refund = defineTool(
      {
        name: 'refund',
        description: 'Refunds.',
        inputSchema: toStandardJsonSchema(order),
        outputSchema: v.string(),
      },
      (input) => {
        expectTypeOf(input).toEqualTypeOf<{ id: string; amount: number }>();
        seen.push(input);
        return 'done';
      },
    );
    expect(refund.inputSchema.jsonSchema).toMatchObject({
      type: 'object',
      properties: { id: { type: 'string' }, amount: { type: 'number', maximum: 100 } },
      required: ['id'],
    });
    const { model, server } = await scripted(
      calls(call('c1', 'refund', { id: 'A-1' }), call('c2', 'refund', { id: 'A-1', amount: 101 })),
      says('Done.'),
    );
    await generate({ model, tools: [refund], prompt: 'Go' });
    expect(seen).toEqual([{ id: 'A-1', amount: 5 }]);
    expect(sentResults(server)).toEqual([
      ['c1', 'done'],
      ['c2', expect.stringContaining('amount')],
    ]);
  });

  test.each<[string, Schema, string]>([
    ['has no JSON Schema', order, 'wrap it in toStandardJsonSchema of @valibot/to-json-schema'],
    ['is of zod 3', z3.object({}), 'it is a schema of zod 3; use zod 4'],
    ['has functions in it', { type: 'object', check: () => true }, 'it is neither a schema of zod 4'],
    [
      'is an object of a class',
      { type: 'object', __proto__: new Date(0) },
      'it is neither a schema of zod 4',
    ],
  ])('is refused if it %s, and the error says what to do', (_what, schema, advice) => {
    expect(() =>
      defineTool({ name: 'refund', description: 'Refunds.', inputSchema: schema }, () => 1),
    ).toThrow(advice);
  });

  test('does not fit if it checks asynchronously', () => {
    const slow = v.objectAsync({
      id: v.pipeAsync(
        v.string(),
        v.checkAsync(async () => true),
      ),
    });
    expect(compileSchema(slow, 'own', 'outputSchema').parse({ id: 'a' })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('asynchronously'),
    });
  });
});

describe('a pattern of a JSON Schema', () => {
  const text = (pattern: string) => compile(object({ properties: { a: { type: 'string', pattern } } }));
  test.each([
    ['^(a+)+$', 'aaaa', `${'a'.repeat(5_000)}!`],
    ['^\\u0041[^\\/]$', 'Ab', 'A/'],
    ['^(?<year>\\d{4})$', '2026', '20267'],
    ['^\\p{L}$', 'é', '1'],
    ['^(?!\\s*$).+', 'a', '  '],
    ['^(?=.*[A-Z])(?=.*\\d)[^x]{3,}$', 'aB1', 'aB1x'],
    [z.toJSONSchema(z.email()).pattern ?? '', 'ann@example.com', 'ann..b@example.com'],
    [z.toJSONSchema(z.uuid()).pattern ?? '', '123e4567-e89b-12d3-a456-426614174000', '123'],
    [z.toJSONSchema(z.iso.datetime()).pattern ?? '', '2026-02-28T10:00:00Z', '2026-02-30T10:00:00Z'],
  ])('%s decides as in JavaScript, however long it would take there', (pattern, fitting, unfit) => {
    expect([text(pattern).parse({ a: fitting }).ok, text(pattern).parse({ a: unfit })]).toEqual([
      true,
      { ok: false, field: 'a', problem: `must match pattern "${pattern}"` },
    ]);
  });

  test.each([
    ['(a)\\1', 'without lookarounds and backreferences'],
    ['x(?=y)', 'without lookarounds and backreferences'],
    ['(?<!x)y', 'without lookarounds and backreferences'],
    ['^(?!a)b|c', 'without lookarounds and backreferences'],
    ['[', 'Invalid regular expression'],
    ['(?:x{1000}y){100}', 'is too large'],
  ])('%s is refused when it is defined, with the reason', (pattern, reason) => {
    expect(() => text(pattern)).toThrow(reason);
  });

  test('is not tried on a text that would take too long', () => {
    expect(text('[ab]*a[ab]{900}[cd]').parse({ a: 'ab'.repeat(50_000) })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('too long for the pattern'),
    });
  });
});
