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

test.each([
  // The sign for Kelvin is no ASCII letter, though JavaScript makes a "k" of it.
  [`input.a.lowerAscii() == 'k'`, { a: '\u212A' }, false],
  [`input.a.lowerAscii() == 'prod-Æ'`, { a: 'PROD-Æ' }, true],
  [`input.a.upperAscii() == 'αB'`, { a: 'αb' }, true],
  [`input.a.trim() == 'x'`, { a: '\u0085 x\u00a0' }, true],
  [`input.a.trim() == 'x'`, { a: '\ufeffx' }, false],
])('%s is computed as CEL defines it', (condition, input, expected) => {
  expect(judge(condition, input)).toBe(expected);
});

test.each([
  ['input.amount in [3u, 4u]', /unsigned/],
  ['uint(input.amount) in input.list', /unsigned/],
  ["input.a == b'ÿ'", /not ASCII/],
])('%s is refused, because it would not mean what it says', (condition, problem) => {
  expect(() => compileCondition(condition)).toThrow(problem);
});

test('a text that is too long for a pattern makes the condition fail, so people are asked', () => {
  expect(judge(`input.a.matches('[ab]*a[ab]{900}[cd]')`, { a: 'ab'.repeat(50_000) })).toEqual({
    error: expect.stringContaining('too long for the pattern'),
  });
});

test('a pattern for names with many stars decides in linear time', () => {
  expect(matchesGlob('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(64))).toBe(false);
});

test.each([
  ["'S1' in requester.groups", ['S1', 'S2'], true],
  ["'S1' in requester.groups", [], false],
  ["input.a == 'requester.groups' && !('S1' in requester.groups)", ['S2'], true],
  ["'S1' in requester.groups", undefined, { error: "the requester's user groups are not known" }],
  // What is true without the groups needs none.
  ["'S1' in requester.groups || input.a != ''", undefined, true],
])('%s with the groups %s is %s', (condition, groups, expected) => {
  const judged = compileCondition(condition)({
    ...{ input: { a: 'requester.groups' }, requester: 'U1', channel: 'C1', tool: 't' },
    groupsOf: (person) => (person === 'U1' ? groups : ['S1']),
  });
  expect(judged).toEqual(expected);
});

test.each([
  ["input.a == requester.email && requester.name == 'Ada'", { name: 'Ada', email: 'Ada@Shop.example' }, true],
  ['input.a != requester.email', { name: 'Ada', email: 'eve@shop.example' }, true],
  ["requester.name == 'Ada'", { name: 'Ada' }, true],
  ['input.a != requester.email', { name: 'Ada' }, { error: "the requester's email address is not known" }],
  ['input.a != requester.email', undefined, { error: "the requester's email address is not known" }],
  ["requester.name == 'Ada'", undefined, { error: "the requester's name is not known" }],
  ["input.a == 'requester.email'", undefined, false],
])('%s with the profile %o is %s', (condition, profile, expected) => {
  const judged = compileCondition(condition)({
    ...{ input: { a: 'ada@shop.example' }, requester: 'U1', channel: 'C1', tool: 't' },
    profileOf: (person) => (person === 'U1' ? profile : { name: 'Ada', email: 'ada@shop.example' }),
  });
  expect(judged).toEqual(expected);
});
