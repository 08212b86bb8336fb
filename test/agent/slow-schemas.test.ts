import { expect, test } from 'vitest';
import { compileSchema, type JsonSchema } from '../../src/agent/schema/compile-schema.ts';
import { defineTool, generate } from '../../src/index.ts';
import { call, calls, says, scripted, sentResults } from './support.ts';

const schemaOf = (properties: JsonSchema): JsonSchema => ({ type: 'object', ...properties });

/** Each level of a value is checked twice as often as the one above it. */
const DOUBLING = schemaOf({
  properties: { a: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      properties: { end: false },
      anyOf: [
        { properties: { a: { $ref: '#/$defs/node' } } },
        { properties: { a: { $ref: '#/$defs/node' } } },
      ],
    },
  },
});
const deep = Array.from({ length: 60 }).reduce<JsonSchema>((inner) => ({ a: inner }), { end: true });
/** Each definition is checked twice as often as the one that refers to it. */
const LAUGHS = schemaOf({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, index === 39 ? {} : { allOf: [next, next] }];
    }),
  ),
});
const UNIQUE = schemaOf({ properties: { a: { uniqueItems: true } } });
const manyItems = { a: Array.from({ length: 100_000 }, (_, index) => ({ index })) };

test.each([
  ['items that must differ', UNIQUE, manyItems],
  [
    'items that must differ, in an old schema',
    { ...UNIQUE, $schema: 'http://json-schema.org/draft-07/schema#' },
    manyItems,
  ],
  ['alternatives of alternatives', DOUBLING, deep],
  ['definitions of definitions', LAUGHS, {}],
])('%s cannot hold the process: what takes too long to check does not fit', (_what, schema, value) => {
  expect(compileSchema(schema, 'foreign', 'inputSchema').parse(value)).toEqual({
    ok: false,
    field: '',
    problem: 'it could not be checked within 250 ms; send shorter and simpler values',
  });
});

test('a schema that was cut off once decides as ever', () => {
  const { parse } = compileSchema(UNIQUE, 'foreign', 'inputSchema');
  expect(parse(manyItems).ok).toBe(false);
  expect(parse({ a: [1, 2] })).toEqual({ ok: true, value: { a: [1, 2] } });
  expect(parse({ a: [1, 1] })).toMatchObject({ ok: false, field: 'a' });
});

test('a call that cannot be checked in time never runs, the model is told, and the loop goes on', async () => {
  const ran: unknown[] = [];
  const foreign = defineTool(
    { name: 'foreign', description: 'Comes from elsewhere.', inputSchema: DOUBLING },
    (input) => void ran.push(input),
  );
  const { model, server } = await scripted(
    calls(call('c1', 'foreign', deep), call('c2', 'foreign', { a: {} })),
    says('Done.'),
  );
  const response = await generate({ model, tools: [foreign], prompt: 'Go' });
  expect(response.text).toBe('Done.');
  expect(ran).toEqual([{ a: {} }]);
  expect(sentResults(server)).toEqual([
    ['c1', expect.stringContaining('could not be checked within 250 ms')],
    ['c2', 'null'],
  ]);
});
