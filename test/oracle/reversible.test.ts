import { expect, test } from 'vitest';
import { reversibilityOf, reversibleBy } from '../../src/policy/reversible.ts';
import { ANN, manifest, OTHER_THREAD, openScene, ROY } from './scene.ts';

const UNDO = '    undo: { tool: unpay, within: 10m }';
const UNPAY = `  unpay:
    description: Takes a payment back.
    input: { type: object }
    http: { method: POST, url: "https://example.com/" }
    approval: [{ when: "tool.reversible == 'no'", policy: boss }, { require: never }]`;
const BY_CLASS = `[{ when: "tool.reversible == 'no'", policy: boss }, { policy: default }]`;

test.each([
  ['nothing is said', {}, 'no'],
  ['an undo is declared', { hasUndo: true }, 'undo'],
  ['it only reads', { onlyReads: true }, 'yes'],
  ['the manifest says yes', { declared: 'yes' }, 'yes'],
  ['the manifest says no', { declared: 'no', onlyReads: true }, 'no'],
  ['the manifest says undo and there is none', { declared: 'undo' }, 'no'],
] as const)('where %s', (_, facts, expected) => {
  expect(reversibleBy({ hasUndo: false, onlyReads: false, ...facts })).toBe(expected);
});

test('of several steps the worst counts, and one that is gone is the worst', () => {
  const [yes, undo, no] = (['yes', 'undo', 'no'] as const).map((reversible) => ({ reversible }));
  expect(reversibilityOf(yes)).toBe('yes');
  expect(reversibilityOf(yes, undo)).toBe('undo');
  expect(reversibilityOf(undo, no, yes)).toBe('no');
  expect(reversibilityOf(yes, undefined)).toBe('no');
  expect(reversibilityOf()).toBe('no');
});

test.each([
  ['nothing', '', [ROY], 'no'],
  ['its undo', UNDO, [ANN], 'undo'],
  ['its word', '    reversible: yes', [ANN], 'yes'],
])('a rule asks by class, which comes from %s', async (_, pay, approvers, reversible) => {
  const { ask, record } = await openScene({ text: manifest({ pay, tools: UNPAY, approval: BY_CLASS }) });
  const { principals, shown } = await record((await ask(1)) ?? '');
  expect(principals).toEqual(expect.arrayContaining(approvers));
  expect(principals.includes(ROY)).toBe(reversible === 'no');
  expect(shown.facets.undo?.reversible).toBe(reversible);
  expect(shown.facets.undo?.withinMs).toBe(reversible === 'undo' ? 600_000 : undefined);
});

test('the call that undoes is judged by its own class', async () => {
  const { ask, record } = await openScene({
    text: manifest({ pay: UNDO, tools: UNPAY, approval: BY_CLASS }),
  });
  expect((await record((await ask(1, { tool: 'unpay' })) ?? '')).principals).toEqual([ROY]);
});

test('what cannot be undone is of high risk where the policy says so: no grant, and none is used', async () => {
  const policy = `risk: "tool.reversible == 'no' ? 'high' : 'low'", grants: { for: 1h, uses: 5, when: "true" }`;
  const { ask, click, record, replace, paid } = await openScene({
    text: manifest({ policy, pay: '    reversible: yes' }),
  });
  expect((await record((await ask(1)) ?? '')).shown.facets.grants).toBeDefined();
  await click(ANN, { type: 'approve', grants: true });
  expect(await ask(2)).toBeUndefined();
  // A change of the class is a change of the tool, so nothing that was granted or asked before holds.
  const pending = await ask(3, { thread: OTHER_THREAD, by: ROY });
  await replace(manifest({ policy }));
  const again = await ask(4);
  expect((await record(again ?? '')).shown.policy).toMatchObject({ risk: 'high' });
  expect((await record(again ?? '')).shown.facets.grants).toBeUndefined();
  const { open } = await click(ANN, undefined, { thread: OTHER_THREAD });
  expect(open).not.toBe(pending);
  expect(open).toBeDefined();
  expect(paid).toHaveLength(2);
});
