import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';

const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const recipes = [...page.matchAll(/^## (.*)\n\n```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, title = '', text = '']) => ({ title, text }),
);
const BASE = { slack: { display_information: { name: 'Recipes' } } };

/** The problems of a part of a manifest, in a whole one. */
function problemsOf(text: string): string[] {
  const environment = { STATUS_TOKEN: 'token-of-status', LOG_TOKEN: 'token-of-logs' };
  const parsed = parseManifest(stringify({ ...BASE, ...parse(text) }), { file: 'recipe.yml', environment });
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

describe('the recipes', () => {
  test('are ten, and every sample of the page is one of them', () => {
    expect(recipes).toHaveLength(10);
    expect(page.match(/^```yaml$/gm)).toHaveLength(10);
  });

  test.each(recipes)('$title: holds as a manifest', ({ text }) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test.each(recipes)('$title: a key that is misspelt is found', ({ text }) => {
    expect(problemsOf(text.replace(/\b(approvers|retention):/, 'mistaken:'))).not.toEqual([]);
  });
});
