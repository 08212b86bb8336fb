import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { createPresentation } from '../../src/tools/presentation/presentation.ts';

const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const recipes = [
  ...page.matchAll(/^## (.*)\n\n```yaml\n([\s\S]*?)^```\n\nCard for `(\{.*?\})`[^:*]*: \*\*(.*?)\?\*\*/gm),
].map(([, title = '', text = '', input = '', card = '']) => ({ title, text, input, card }));

const Texts = z.object({
  title: z.string().optional(),
  fields: z.record(z.string(), z.string()).optional(),
  input: z.record(z.string(), z.unknown()).optional(),
});
const Recipe = z.object({ tools: z.record(z.string(), Texts.extend({ cards: z.array(Texts).optional() })) });

/** The problems of a part of a manifest, in a whole one with the policy `default`. */
function problemsOf(text: string): string[] {
  const part: unknown = parse(text);
  const { policies } = z.object({ policies: z.object({}).loose().optional() }).parse(part);
  const whole = stringify({
    ...z.object({}).loose().parse(part),
    policies: { default: { approvers: ['S0APPROVE1'] }, ...policies },
  });
  const environment = Object.fromEntries(
    [...whole.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, `the value of ${name}`]),
  );
  const parsed = parseManifest(whole, { file: 'recipe.yml', environment });
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

/** The schema of a tool whose module is not here: the types of the arguments that the page shows. */
function schemaOf(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const types = Object.entries(input).map(([name, value]) => [name, { type: typeof value }]);
  return { type: 'object', properties: Object.fromEntries(types), required: Object.keys(input) };
}

/** The title on the card of a recipe's first tool that has one. */
function titleOf(text: string, input: Readonly<Record<string, unknown>>): string | undefined {
  const tools = Object.values(Recipe.parse(parse(text)).tools);
  const first = tools
    .flatMap((tool) => [tool, ...(tool.cards ?? [])])
    .find(({ title }) => title !== undefined);
  const tool = defineTool(
    { name: 'sample', description: 'A sample.', inputSchema: first?.input ?? schemaOf(input) },
    async () => ({}),
  );
  return first && createPresentation(tool, first).present(input).title;
}

describe('the recipes', () => {
  test('are twenty, and every sample of the page is one of them', () => {
    expect(recipes).toHaveLength(20);
    expect(page.match(/^```yaml$/gm)).toHaveLength(20);
  });

  test.each(recipes)('$title: holds as a manifest', ({ text }) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test.each(recipes)('$title: a key that is misspelt is found', ({ text }) => {
    expect(problemsOf(text.replace(/^( {4})(title|mcp|module|http):/m, '$1mistaken:'))).not.toEqual([]);
  });

  test.each(recipes)('$title: the card has the title that the page shows', ({ text, input, card }) => {
    expect(titleOf(text, z.record(z.string(), z.unknown()).parse(JSON.parse(input)))).toBe(card);
  });
});
