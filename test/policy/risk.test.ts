import { expect, test } from 'vitest';
import { riskOf, toRisk } from '../../src/policy/policy.ts';

const call = (amount: unknown, requesters = ['U1']) => ({
  tool: 'refund_order',
  input: { amount: typeof amount === 'number' ? amount : String(amount) },
  requesters,
  contextAuthors: [],
  channel: 'C1',
});

test('a level holds for every call', () => {
  expect(riskOf(toRisk('low'), call(1))).toBe('low');
});

test('an expression gives the level of each call', () => {
  const risk = toRisk("input.amount > 100 ? 'high' : 'low'");
  expect([riskOf(risk, call(5)), riskOf(risk, call(500))]).toEqual(['low', 'high']);
});

test('the highest level of all requesters counts', () => {
  const risk = toRisk("requester == 'U2' ? 'medium' : 'low'");
  expect(riskOf(risk, call(1, ['U1', 'U2']))).toBe('medium');
});

test('what cannot be evaluated, or is no level, is high', () => {
  expect(riskOf(toRisk("input.amount > 100 ? 'high' : 'low'"), call('many'))).toBe('high');
  expect(riskOf(toRisk("input.nothing == 1 ? 'low' : 'low'"), call(1))).toBe('high');
  expect(riskOf(toRisk("'harmless' + ''"), call(1))).toBe('high');
});
