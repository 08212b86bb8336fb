import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';

const folder = new URL('../../docs/', import.meta.url);
/** The recipes have a test of their own. */
const pages = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'recipes.md');
const samples = pages.flatMap((page) =>
  [...readFileSync(new URL(page, folder), 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
    ([, text = ''], index) => ({ name: `${page} ${index + 1}`, text }),
  ),
);
/** Cases of `manifest test`, steps of a workflow and rules of a hook are no part of a manifest; other tests run them. */
const parts = samples.filter(({ text }) => !/^(cases|steps|rules):/m.test(text));

const POLICY = { approvers: ['U012ABCDEF'] };
const BASE = {
  slack: { display_information: { name: 'Samples' } },
  policies: { default: POLICY, oncall: POLICY, support: POLICY, managers: POLICY, boss: POLICY },
  limits: { refund_order: { window: '1d', max: 20_000 } },
};
const READ_ORDER = { module: './tools/read-order.ts', approval: { require: 'never' } };

/** Puts a sample into the whole manifest that its indentation says it is a part of. */
function whole(text: string): Record<string, Record<string, unknown>> {
  const indent = /^ */.exec(text)?.[0].length ?? 0;
  const heads = ['', '', 'tools:\n', '', 'tools:\n  sample:\n    module: ./tools/sample.ts\n'];
  const part: Record<string, Record<string, unknown>> = parse(`${heads[indent] ?? ''}${text}`);
  return {
    ...BASE,
    ...part,
    policies: { ...BASE.policies, ...part.policies },
    tools: { read_order: READ_ORDER, ...part.tools },
  };
}

function problemsOf(manifest: object): string[] {
  const text = stringify(manifest);
  const environment = Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [
      name,
      name.endsWith('_KEY')
        ? 'k'.repeat(43)
        : name.endsWith('_HOOK')
          ? `whsec_${'k'.repeat(40)}`
          : `the value of ${name}`,
    ]),
  );
  const parsed = parseManifest(text, { file: 'sample.yml', environment });
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

describe('the YAML samples of the documentation', () => {
  test('are found', () => {
    expect(parts.length).toBeGreaterThan(5);
  });

  test.each(parts)('$name holds as a part of a manifest', ({ text }) => {
    expect(problemsOf(whole(text))).toEqual([]);
  });

  test('a key that is misspelt is found', () => {
    const [first] = parts.filter(({ text }) => text.includes('approvers:'));
    expect(problemsOf(whole(first?.text.replace('approvers:', 'aprovers:') ?? ''))).not.toEqual([]);
  });
});
