import { describe, expect, test } from 'vitest';
import { buildTools } from '../../../src/tools/mcp/build-tools.ts';

const inputSchema = { type: 'object' };
const build = (...definitions: unknown[]) =>
  buildTools({ definitions, repeatsParameters: true, offersTasks: false }, 'git_', async () => 'ran');
const good = { name: 'good', description: 'Good', inputSchema };

test('a tool has the prefix, the description and the schema that the server gave', () => {
  const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const { tools, problems } = build({ name: 'log', description: 'Shows the log', inputSchema: schema });
  expect(tools).toMatchObject([{ name: 'git_log', description: 'Shows the log' }]);
  expect(tools[0]?.inputSchema.jsonSchema).toEqual(schema);
  expect(tools[0]?.inputSchema.parse({ path: 1 })).toMatchObject({ ok: false, field: 'path' });
  expect(problems).toEqual([]);
});

describe('is left out, reported, and the others stay:', () => {
  test.each([
    ['a name that models refuse', { name: 'read file', inputSchema }, /"git_read file": a name has 1 to 64/],
    ['a name that is too long with its prefix', { name: 'a'.repeat(61), inputSchema }, /a name has 1 to 64/],
    ['a schema of no object', { name: 'odd', inputSchema: { type: 'string' } }, /must describe an object/],
    [
      'a schema that cannot be compiled',
      { name: 'odd', inputSchema: { type: 'object', properties: 7 } },
      /"git_odd": its inputSchema cannot be used/,
    ],
    [
      'a schema that refers to somewhere else',
      { name: 'odd', inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } } },
      /its inputSchema cannot be used/,
    ],
    [
      'a schema that is checked asynchronously',
      { name: 'odd', inputSchema: { type: 'object', $async: true } },
      /\$async/,
    ],
    [
      'an output schema that cannot be compiled',
      { name: 'odd', inputSchema, outputSchema: { type: 'object', properties: 7 } },
      /its outputSchema cannot be used/,
    ],
    ['a definition without a schema', { name: 'odd' }, /cannot be read at "inputSchema"/],
    ['a definition that is none', 7, /cannot be read/],
  ])('%s', (_what, definition, problem) => {
    const { tools, problems } = build(definition, good);
    expect(tools.map(({ name }) => name)).toEqual(['git_good']);
    expect(problems).toEqual([{ tool: expect.any(String), problem: expect.stringMatching(problem) }]);
  });

  test('tools that share a name, all of them', () => {
    const { tools, problems } = build({ ...good, name: 'twin' }, good, { ...good, name: 'twin' });
    expect(tools.map(({ name }) => name)).toEqual(['git_good']);
    expect(problems.map(({ tool }) => tool)).toEqual(['twin', 'twin']);
  });
});

describe('parameters that are sent as headers too', () => {
  const text = (name: unknown) => ({ type: 'string', 'x-mcp-header': name });
  const odd = (schema: object) => ({ name: 'odd', inputSchema: { type: 'object', ...schema } });

  test.each([
    ['on a parameter', { properties: { region: text('Region') } }],
    ['on a nested parameter', { properties: { place: { type: 'object', properties: { a: text('A') } } } }],
    ['on an integer and a boolean', { properties: { a: { type: 'integer', 'x-mcp-header': 'A' } } }],
    ['in data', { properties: { a: { type: 'object', default: { 'x-mcp-header': '' } } } }],
    ['as the name of a parameter', { properties: { 'x-mcp-header': { type: 'string' } } }],
  ])('are accepted %s', (_where, schema) => {
    expect(build(odd(schema)).problems).toEqual([]);
  });

  test.each([
    ['without a name', { properties: { a: text('') } }, /is not the name of a header/],
    ['with a space in the name', { properties: { a: text('My Region') } }, /is not the name of a header/],
    ['with a line break', { properties: { a: text('A\r\nB') } }, /is not the name of a header/],
    ['of a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }, /needs a string/],
    ['of an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }, /needs a string/],
    ['twice', { properties: { a: text('Region'), b: text('REGION') } }, /names "REGION" twice/],
    [
      'in an array',
      { properties: { a: { type: 'array', items: text('A') } } },
      /only allowed on a parameter/,
    ],
    ['in a choice', { anyOf: [{ properties: { a: text('A') } }] }, /only allowed on a parameter/],
    ['in a definition', { $defs: { a: text('A') } }, /only allowed on a parameter/],
    ['on the whole input', { 'x-mcp-header': 'A' }, /only allowed on a parameter/],
  ])('leave their tool out %s', (_where, schema, problem) => {
    const { tools, problems } = build(odd(schema), good);
    expect(tools.map(({ name }) => name)).toEqual(['git_good']);
    expect(problems).toEqual([{ tool: 'odd', problem: expect.stringMatching(problem) }]);
  });

  test('are not looked at where nothing is sent as a header', () => {
    const definitions = [odd({ properties: { a: text('') } })];
    expect(
      buildTools({ definitions, repeatsParameters: false, offersTasks: false }, '', async () => 'ran')
        .problems,
    ).toEqual([]);
  });
});

test('a tool without a description is described by its title', () => {
  const { tools, hints } = build({ name: 'log', title: 'Show the log', inputSchema });
  expect(tools[0]?.description).toBe('Show the log');
  expect(hints.get('git_log')?.title).toBe('Show the log');
});

test('a hint that is no hint is none', () => {
  const { hints } = build({ ...good, annotations: { readOnlyHint: 'yes', destructiveHint: false } });
  expect(hints.get('git_good')).toMatchObject({ readOnly: undefined, destructive: false });
});
