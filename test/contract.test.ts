import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contract, contractProblems } from '../scripts/contract.ts';

const now = await contract();
const committed = (file: string): string | undefined => {
  const path = new URL(`../contract/${file}`, import.meta.url);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

test('what others rely on is what contract/ says', () => {
  expect([...now.values()].every((text) => text.split('\n').length > 5)).toBe(true);
  expect(contractProblems(now, committed).join('\n\n')).toBe('');
});

/** A change that breaks somebody, made in the text of one part: what is found in it, and what takes its place. */
const PLANTED: readonly (readonly [what: string, file: string, found: RegExp, instead: string])[] = [
  ['a renamed metric', 'metrics.txt', /countersign_requests_open/, 'countersign_open_requests'],
  ['a field of REST that is gone', 'rest.txt', /^ components schemas Run properties decisions .*\n/gm, ''],
  ['another exit code', 'commands.txt', /1 some did not/, '3 some did not'],
  ['an event with another version', 'events.txt', /^v1 voted/m, 'v2 voted'],
  ['a field of an event that is gone', 'events.txt', /^(v1 voted .*) proof/m, '$1'],
  ['a setting that became required', 'settings.txt', /^REDIS_PREFIX$/m, 'REDIS_PREFIX required'],
  ['a word of the slash command that is gone', 'slack.txt', /^.* unfreeze\n/m, ''],
  ['a field of a policy that no approval is bound to any more', 'digest.txt', /^v1 policy veto\n/m, ''],
  ['a key of the manifest that is gone', 'manifest.txt', /^.* properties veto .*\n/gm, ''],
];

test.each(PLANTED)('%s fails, with what to do', (_what, file, found, instead) => {
  const text = now.get(file) ?? '';
  const changed = text.replace(found, instead);
  expect(changed).not.toBe(text);
  const [problem = '', ...others] = contractProblems(new Map([[file, changed]]), () => text);
  expect(others).toEqual([]);
  expect(problem).toContain(`contract/${file} is not what the source says:\n- `);
  expect(problem).toMatch(/docs\/stability\.md .* write under "Contract" in CHANGELOG\.md/);
});

test('what is only added has to be written down', () => {
  const text = now.get('manifest.txt') ?? '';
  const added = `${text} properties policies additionalProperties properties mood type: "string"\n`;
  expect(contractProblems(new Map([['manifest.txt', added]]), () => text)).toEqual([
    expect.stringMatching(
      /\+ .* mood .*\nWrite under "Contract" in CHANGELOG\.md what is new\. Run "npm run schema"/,
    ),
  ]);
});
