import { expect, test } from 'vitest';
import { compileSchema, type JsonSchema } from '../../src/agent/schema/compile-schema.ts';
import { defineTool, generate } from '../../src/index.ts';
import { call, calls, says, scripted, sentResults } from './support.ts';

const AMBIGUOUS = '^(a+)+$';
/** Without an end put to it, checking this by the pattern above takes longer than anybody lives. */
const ENDLESS = `${'a'.repeat(60)}!`;
const schemaOf = (properties: JsonSchema): JsonSchema => ({ type: 'object', ...properties });
const text = (pattern: string) => schemaOf({ properties: { a: { type: 'string', pattern } } });

test.each([
  ['a pattern', text(AMBIGUOUS), { a: ENDLESS }],
  ['a pattern for names', schemaOf({ patternProperties: { [AMBIGUOUS]: false } }), { [ENDLESS]: 1 }],
  ['a pattern behind a reference', { $ref: '#/$defs/a', $defs: { a: text(AMBIGUOUS) } }, { a: ENDLESS }],
  [
    'a pattern of an old schema',
    { ...text(AMBIGUOUS), $schema: 'http://json-schema.org/draft-07/schema#' },
    { a: ENDLESS },
  ],
  [
    'items that must differ',
    schemaOf({ properties: { a: { uniqueItems: true } } }),
    { a: Array.from({ length: 100_000 }, (_, index) => ({ index })) },
  ],
])('%s cannot hold the process: what takes too long to check does not fit', (_what, schema, value) => {
  expect(compileSchema(schema, 'foreign', 'inputSchema').parse(value)).toEqual({
    ok: false,
    field: '',
    problem: 'it could not be checked within 250 ms; send shorter and simpler values',
  });
});

test('a pattern that decides in time decides as ever', () => {
  const { parse } = compileSchema(text(AMBIGUOUS), 'foreign', 'inputSchema');
  expect(parse({ a: 'aaaa' })).toEqual({ ok: true, value: { a: 'aaaa' } });
  expect(parse({ a: 'b' })).toEqual({
    ok: false,
    field: 'a',
    problem: 'must match pattern "^(a+)+$"',
  });
});

test('a call that cannot be checked in time never runs, the model is told, and the loop goes on', async () => {
  const ran: unknown[] = [];
  const foreign = defineTool(
    { name: 'foreign', description: 'Comes from elsewhere.', inputSchema: text(AMBIGUOUS) },
    (input) => void ran.push(input),
  );
  const { model, server } = await scripted(
    calls(call('c1', 'foreign', { a: ENDLESS }), call('c2', 'foreign', { a: 'aa' })),
    says('Done.'),
  );
  const response = await generate({ model, tools: [foreign], prompt: 'Go' });
  expect(response.text).toBe('Done.');
  expect(ran).toEqual([{ a: 'aa' }]);
  expect(sentResults(server)).toEqual([
    ['c1', expect.stringContaining('could not be checked within 250 ms')],
    ['c2', 'null'],
  ]);
});
