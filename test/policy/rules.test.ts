import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/agent/json.ts';
import {
  type ApprovalRule,
  type ApprovalVerdict,
  compileApprovalRules,
  matchesGlob,
} from '../../src/policy/rules.ts';

const RUNS = 'runs';
type Expected = typeof RUNS | { readonly asks: string } | { readonly denies: string };
const asks = (policy: string): Expected => ({ asks: policy });
const denies = (reason: string): Expected => ({ denies: reason });

function judge(
  rules: readonly ApprovalRule[],
  input: JsonValue = {},
  tool = 'refund_order',
): ApprovalVerdict {
  return compileApprovalRules(rules)({ tool, input, requester: 'U1', channel: 'C1' }).verdict;
}

function shortly(verdict: ApprovalVerdict): Expected {
  if (verdict.outcome === 'deny') return denies(verdict.reason);
  return verdict.outcome === 'ask' ? asks(verdict.policy) : RUNS;
}

describe('without a condition', () => {
  test.each<[string, ApprovalRule[], string, Expected]>([
    ['no rule at all', [], 'refund_order', asks('default')],
    ['a rule that says nothing', [{}], 'refund_order', asks('default')],
    ['a policy alone', [{ policy: 'finance' }], 'refund_order', asks('finance')],
    ['always', [{ require: 'always' }], 'refund_order', asks('default')],
    ['always, with a policy', [{ require: 'always', policy: 'finance' }], 'refund_order', asks('finance')],
    ['never', [{ require: 'never' }], 'refund_order', RUNS],
    ['a pattern that fits', [{ match: 'refund_*', require: 'never' }], 'refund_order', RUNS],
    ['a pattern that does not fit', [{ match: 'get_*', require: 'never' }], 'refund_order', asks('default')],
    ['only the beginning fits', [{ match: 'refund', require: 'never' }], 'refund_order', asks('default')],
    ['only the end fits', [{ match: 'order', require: 'never' }], 'refund_order', asks('default')],
    [
      'a pattern is no expression',
      [{ match: 'refund.order', require: 'never' }],
      'refund_order',
      asks('default'),
    ],
    ['letters are not folded', [{ match: 'Refund_*', require: 'never' }], 'refund_order', asks('default')],
    [
      'the first that fits decides: never before always',
      [
        { match: 'get_*', require: 'never' },
        { match: '*', policy: 'release' },
      ],
      'get_issue',
      RUNS,
    ],
    [
      'the first that fits decides: the rest of the tools',
      [
        { match: 'get_*', require: 'never' },
        { match: '*', policy: 'release' },
      ],
      'delete_issue',
      asks('release'),
    ],
    [
      'the first that fits decides, not the narrowest',
      [
        { match: '*', policy: 'release' },
        { match: 'get_*', require: 'never' },
      ],
      'get_issue',
      asks('release'),
    ],
    ['deny', [{ require: 'deny', reason: 'No.' }], 'refund_order', denies('No.')],
    [
      'deny for other tools',
      [{ match: 'get_*', require: 'deny', reason: 'No.' }],
      'refund_order',
      asks('default'),
    ],
    ['two policies: the first', [{ policy: 'one' }, { policy: 'two' }], 'refund_order', asks('one')],
  ])('%s', (_, rules, tool, expected) => {
    expect(shortly(judge(rules, {}, tool))).toEqual(expected);
  });
});

describe('with a condition', () => {
  const large: ApprovalRule = { policy: 'finance', when: 'input.amount > 10000' };
  const huge: ApprovalRule = { require: 'deny', when: 'input.amount > 100000', reason: 'Too much.' };
  const small: ApprovalRule = { require: 'never', when: 'input.amount < 100' };

  test.each<[string, ApprovalRule[], JsonValue, Expected]>([
    ['it is true', [large], { amount: 10_001 }, asks('finance')],
    ['it is false, and no other rule is there', [large], { amount: 10_000 }, asks('default')],
    ['it is false, and the last rule says never', [large, { require: 'never' }], { amount: 10_000 }, RUNS],
    ['the field is missing', [large], {}, asks('finance + default')],
    ['the field is null', [large], { amount: null }, asks('finance + default')],
    ['the field is a text', [large], { amount: '5' }, asks('finance + default')],
    ['the field is a list', [large], { amount: [5] }, asks('finance + default')],
    [
      'the field is only inherited',
      [large],
      JSON.parse('{"__proto__":{"amount":5}}'),
      asks('finance + default'),
    ],
    ['the input is no object', [large], 5, asks('finance + default')],
    ['never when, and it is true', [small], { amount: 99 }, RUNS],
    ['never when, and it is false', [small], { amount: 100 }, asks('default')],
    ['never when, and it cannot be evaluated', [small], {}, asks('default')],
    [
      'never when with a policy, and it cannot be evaluated',
      [{ ...small, policy: 'finance' }, { policy: 'finance' }],
      {},
      asks('finance'),
    ],
    [
      'never when, and it cannot be evaluated: the next rule decides',
      [small, { policy: 'finance' }],
      {},
      asks('finance'),
    ],
    [
      'never when, and it cannot be evaluated: a later condition decides',
      [small, large, { policy: 'team' }],
      { amount: 'x' },
      asks('finance + team'),
    ],
    [
      'never when, and it cannot be evaluated, before another never: nothing runs unapproved',
      [small, { require: 'never' }],
      {},
      asks('default'),
    ],
    [
      'when, and it cannot be evaluated: a later rule is asked beside it',
      [{ ...large, policy: 'team' }, { policy: 'finance' }],
      {},
      asks('team + finance'),
    ],
    [
      'when, and it cannot be evaluated: a later deny counts',
      [large, { require: 'deny', reason: 'No.' }],
      {},
      denies('No.'),
    ],
    [
      'when, and it cannot be evaluated: a rule that is not reached adds nothing',
      [large, { policy: 'team' }, { policy: 'board' }],
      {},
      asks('finance + team'),
    ],
    ['a false one leaves it to the next', [large, { policy: 'team' }], { amount: 5 }, asks('team')],
    ['a true one does not', [large, { policy: 'team' }], { amount: 20_000 }, asks('finance')],
    ['one that cannot be evaluated does not', [large, { require: 'never' }], {}, asks('finance')],
    ['never when, then when: both false', [small, large], { amount: 5_000 }, asks('default')],
    [
      'a gap between two conditions',
      [large, { require: 'never', when: 'input.amount < 10000' }],
      { amount: 10_000 },
      asks('default'),
    ],
    ['never when, then always', [small, { policy: 'team' }], { amount: 5_000 }, asks('team')],
    [
      'two conditions, the second true',
      [
        { policy: 'a', when: 'input.x' },
        { policy: 'b', when: 'input.y' },
      ],
      { x: false, y: true },
      asks('b'),
    ],
    ['a number is no answer', [{ when: 'input.amount' }], { amount: 0 }, asks('default')],
    [
      'a text is no answer',
      [{ require: 'never', when: 'input.answer' }],
      { answer: 'true' },
      asks('default'),
    ],
    ['null is no answer', [{ require: 'never', when: 'input.answer' }], { answer: null }, asks('default')],
    ['a variable that there is not', [{ require: 'never', when: 'inptu.x != 1' }], {}, asks('default')],
    ['deny when, and it is true', [huge, large], { amount: 100_001 }, denies('Too much.')],
    ['deny when, and it is false', [huge, large], { amount: 20_000 }, asks('finance')],
    ['deny when, and it is false, and no rule asks', [huge], { amount: 5 }, asks('default')],
    [
      'deny when, and it cannot be evaluated',
      [huge, { require: 'never' }],
      {},
      denies('Too much. (not checked: No such key: amount)'),
    ],
    ['never before deny', [small, huge], { amount: 5 }, RUNS],
    ['who asks', [{ when: 'requester != "U1"' }, { require: 'never' }], {}, RUNS],
    ['where', [{ when: 'channel in ["C1", "C2"]' }], {}, asks('default')],
    ['which tool', [{ when: 'tool.startsWith("refund")' }], {}, asks('default')],
    ['has, on what is there', [{ when: 'has(input.force)' }], { force: false }, asks('default')],
    ['has, on what is not', [{ when: 'has(input.force)' }, { require: 'never' }], {}, RUNS],
    ['has, on what every object has', [{ when: '!has(input.constructor)' }], {}, asks('default')],
    [
      'or, with a side that cannot be evaluated',
      [{ when: 'input.missing > 1 || input.x == 1.0' }],
      { x: 1 },
      asks('default'),
    ],
    [
      'a list that is walked',
      [{ when: 'input.items.exists(item, item.price > 5)' }, { require: 'never' }],
      { items: [{ price: 1 }] },
      RUNS,
    ],
    [
      'a list with an item that is not as expected',
      [{ when: 'input.items.exists(item, item.price > 5)' }],
      { items: [{ price: 1 }, {}] },
      asks('default'),
    ],
  ])('%s', (_, rules, input, expected) => {
    expect(shortly(judge(rules, input))).toEqual(expected);
  });

  test('the verdict names the rule, and says when its condition could not be evaluated', () => {
    expect(judge([large], { amount: 20_000 }).rule).toBe('this tool: when input.amount > 10000');
    expect(judge([large], {}).rule).toMatch(
      /^this tool: when input\.amount > 10000 \(it could not be evaluated: .+\)$/,
    );
    expect(judge([{ match: 'refund_*', require: 'never' }]).rule).toBe('refund_*: never');
  });

  test('a condition that does not compile is an error at once', () => {
    expect(() => compileApprovalRules([{ when: 'input.amount >' }])).toThrow();
  });
});

describe('now', () => {
  const at = (when: string, time: string, timeZone?: string) =>
    shortly(
      compileApprovalRules(
        [{ require: 'never', when }],
        () => timeZone,
      )({
        ...{ tool: 'act', input: {}, requester: 'U1', channel: 'C1' },
        now: new Date(time),
      }).verdict,
    );

  test.each([
    ['the hour', 'now.hour == 9 && now.minute == 30', '2026-11-16T09:30:00Z', undefined, RUNS],
    ['another hour', 'now.hour == 9', '2026-11-16T10:00:00Z', undefined, asks('default')],
    ['midnight is hour 0', 'now.hour == 0', '2026-11-16T00:05:00Z', undefined, RUNS],
    ['the weekday', 'now.weekday in ["monday", "tuesday"]', '2026-11-16T09:30:00Z', undefined, RUNS],
    ['the date', 'now.date == "2026-11-16"', '2026-11-16T23:59:59Z', undefined, RUNS],
    [
      'a zone east of UTC',
      'now.date == "2026-11-17" && now.hour == 8',
      '2026-11-16T23:30:00Z',
      'Asia/Tokyo',
      RUNS,
    ],
    ['a zone in summer', 'now.hour == 14', '2026-07-01T12:00:00Z', 'Europe/Berlin', RUNS],
    ['a zone in winter', 'now.hour == 13', '2026-12-01T12:00:00Z', 'Europe/Berlin', RUNS],
    ['a zone that there is not', 'now.hour >= 0', '2026-12-01T12:00:00Z', 'Mars/Olympus', asks('default')],
    ['a field that it does not have', 'now.second == 0', '2026-12-01T12:00:00Z', undefined, asks('default')],
  ])('%s', (_, when, time, zone, expected) => {
    expect(at(when, time, zone)).toEqual(expected);
  });

  test('without a given time it is this moment', () => {
    const judged = judge([
      { require: 'never', when: `now.date.startsWith("${new Date().getUTCFullYear()}")` },
    ]);
    expect(judged.outcome).toBe('run');
  });
});

test.each([
  ['*', 'anything', true],
  ['*', '', true],
  ['get_*', 'get_', true],
  ['get_*', 'xget_', false],
  ['*_file', 'read_file', true],
  ['*_file', 'read_file_2', false],
  ['g?t', 'get', true],
  ['g?t', 'gt', false],
  ['a*b*c', 'aXbYc', true],
  ['a*b*c', 'acb', false],
  ['a.c', 'abc', false],
  ['(a|b)', 'a', false],
  ['(a|b)', '(a|b)', true],
  ['[ab]', 'a', false],
  ['a+', 'aa', false],
  ['\\d', '5', false],
  ['a\\*', 'a\\b', true],
  ['^a$', 'a', false],
  ['a{2}', 'aa', false],
])('the pattern %s and the name %s: %s', (pattern, name, fits) => {
  expect(matchesGlob(pattern, name)).toBe(fits);
});
