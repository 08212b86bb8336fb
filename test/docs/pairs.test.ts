import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTANTS } from '../../scripts/mutants.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { FOURTH } from './fourth-round.ts';
import { APART, BROKEN, CALLER_PAIRS, PAIRS, UNTRUE } from './pairs-table.ts';

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
    'first time',
    'plan',
    'passkey',
  ],
];
test('every pair of features has one line', () => {
  const pairs = [...PAIRS.map(({ features }) => features), ...APART.map(([features]) => features)];
  expect(new Set(pairs).size).toBe(pairs.length);
  for (const pair of nonEmpty(pairs)) {
    const [one = '', other = ''] = pair.split(', ');
    expect(FEATURES.indexOf(other)).toBeGreaterThan(FEATURES.indexOf(one));
    expect(FEATURES).toContain(one);
  }
  const all = (FEATURES.length * (FEATURES.length - 1)) / 2;
  expect(pairs.length).toBe(all);
});

test('every test that a line names exists', () => {
  const shown = UNTRUE.flatMap(({ tests }) => tests.map(([file, title]) => ({ file, title })));
  const missing = [...PAIRS, ...CALLER_PAIRS, ...BROKEN, ...FOURTH, ...shown].filter(
    ({ file, title }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(title),
  );
  expect(missing).toEqual([]);
});

test('the page has the features and the counts of the table', () => {
  const page = readFileSync(new URL('../../docs/evidence/pairs.md', import.meta.url), 'utf8');
  expect(page.replaceAll(/\s+/g, ' ')).toContain(`${FEATURES.join(', ')}.`);
  const rows = [
    ['all', (FEATURES.length * (FEATURES.length - 1)) / 2],
    ['with a test', PAIRS.length],
    ['that cannot meet, with the reason', APART.length],
  ].map(([name, count]) => `| ${name} | ${count} |`);
  expect(page).toContain(rows.join('\n'));
});

test('the page counts the ways in which promises broke, and the checks that are removed', () => {
  const page = readFileSync(new URL('../../docs/evidence/pairs.md', import.meta.url), 'utf8');
  expect(page).toContain(`\`test/docs/fourth-round.ts\` has ${FOURTH.length} more`);
  expect(page).toContain(`each of ${MUTANTS.length} checks`);
});
