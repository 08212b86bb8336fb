import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FEATURES = [
  ...[
    'edit',
    'grant',
    'limit',
    'freeze',
    'delegation',
    'quorum of groups',
    'approver from input',
    'preview',
    'undo',
  ],
  ...[
    'elicitation',
    'account',
    'nested call',
    'retry',
    'two speakers',
    'changed manifest',
    'crash',
    'expiry',
  ],
];
const rows = readFileSync(new URL('../../docs/pairs.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (features|no\.|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
const isNumbered = ([first = '']: readonly string[]) => /^\d+$/.test(first);

test('every pair of features has one line, but those that meet only in the vote', () => {
  const pairs = rows.filter((row) => !isNumbered(row)).map(([pair = '']) => pair);
  expect(new Set(pairs).size).toBe(pairs.length);
  for (const pair of pairs) {
    const [one = '', other = ''] = pair.split(', ');
    expect(FEATURES.indexOf(other)).toBeGreaterThan(FEATURES.indexOf(one));
    expect(FEATURES).toContain(one);
  }
  const all = (FEATURES.length * (FEATURES.length - 1)) / 2;
  // Three features say who approves, six are about what runs; beside these a preview and an inner call leave three pairs out.
  expect(pairs.length).toBe(all - 3 * 6 - 3);
});

test('every test that a line names exists', () => {
  const missing = rows.flatMap(([pair, , shown]) => {
    const [, file = '', title = ''] = /^`(test\/[^`]+)`: (.+)$/.exec(shown ?? '') ?? [];
    if (shown === undefined || (existsSync(file) && readFileSync(file, 'utf8').includes(title))) return [];
    return [`${pair}: ${shown}`];
  });
  expect(missing).toEqual([]);
});
