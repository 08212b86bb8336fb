import { describe, expect, test } from 'vitest';
import { buildTools } from '../../../src/tools/mcp/build-tools.ts';

const inputSchema = { type: 'object' };
const build = (...definitions: unknown[]) => buildTools(definitions, 'git_', async () => 'ran');
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

test('a tool without a description is described by its title', () => {
  const { tools, hints } = build({ name: 'log', title: 'Show the log', inputSchema });
  expect(tools[0]?.description).toBe('Show the log');
  expect(hints.get('git_log')?.title).toBe('Show the log');
});

test('a hint that is no hint is none', () => {
  const { hints } = build({ ...good, annotations: { readOnlyHint: 'yes', destructiveHint: false } });
  expect(hints.get('git_good')).toMatchObject({ readOnly: undefined, destructive: false });
});
