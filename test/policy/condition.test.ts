import { expect, test } from 'vitest';
import { compileCondition } from '../../src/policy/condition.ts';
import { matchesGlob } from '../../src/policy/rules.ts';

const AMBIGUOUS = '^(a+)+$';
/** A backtracking engine would need longer for this than anybody lives. */
const ENDLESS = `${'a'.repeat(5_000)}!`;
const judge = (condition: string, input: object) =>
  compileCondition(condition)({ input: { ...input }, requester: 'U1', channel: 'C1', tool: 't' });

test.each([
  [`input.a.matches('${AMBIGUOUS}')`, { a: ENDLESS }, false],
  [`input.a.matches('${AMBIGUOUS}')`, { a: 'aaa' }, true],
  [`input.list.exists(a, a.matches("^(a|a)*$") || a.matches(r'^\\d+$'))`, { list: ['b', '42'] }, true],
  [`!(input.a.matches('b') ? input.a.matches('c') : 'matches'.matches('matches'))`, { a: 'x' }, false],
  [`input.a.matches('(?i)^prod')`, { a: 'PRODUCTION' }, true],
])('%s decides in linear time', (condition, input, expected) => {
  expect(judge(condition, input)).toBe(expected);
});

test('a text that is too long for a pattern makes the condition fail, so people are asked', () => {
  expect(judge(`input.a.matches('[ab]*a[ab]{900}[cd]')`, { a: 'ab'.repeat(50_000) })).toEqual({
    error: expect.stringContaining('too long for the pattern'),
  });
});

test('a pattern for names with many stars decides in linear time', () => {
  expect(matchesGlob('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(64))).toBe(false);
});
