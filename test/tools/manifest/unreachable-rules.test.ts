import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { DEFAULT_POLICY, held } from './support.ts';

function warningsOf(tool: string): string[] {
  return held(`tools:\n${tool}${DEFAULT_POLICY}`).warnings.map(formatProblem);
}

describe('a rule that can never speak is a warning', () => {
  const server = (rules: string) => `  s:\n    mcp: { command: node }\n    approval:\n${rules}`;

  test('after one that decides everything', () => {
    expect(
      warningsOf(server('      - { match: "*" }\n      - { match: "get_*", require: never }\n')),
    ).toEqual([
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test('after one whose pattern is wider', () => {
    expect(warningsOf(server('      - { match: "get_*" }\n      - { match: "get_user*" }\n'))).toHaveLength(
      1,
    );
  });

  test('beside a tool whose name it does not match', () => {
    const http = 'description: Pings., http: { method: GET, url: "https://example.com" }';
    expect(warningsOf(`  a: { approval: { match: "b*" }, ${http} }\n`)).toEqual([
      'manifest.yml:2:27: tools.a.approval.match: this rule is never used: "b*" does not match "a"',
    ]);
  });

  test('but not beside a module, whose tools have names of their own', () => {
    expect(warningsOf('  a: { module: ./a.ts, approval: { match: "b*" } }\n')).toEqual([]);
  });

  test('where it names a policy that nobody is asked by', () => {
    expect(warningsOf('  a: { module: ./a.ts, approval: { require: never, policy: default } }\n')).toEqual([
      'manifest.yml:2:60: tools.a.approval.policy: with "require: never" no approval is needed, so no policy is used',
    ]);
  });

  test.each([
    ['the same condition', 'input.a == 1', 'input.a == 1'],
    ['the same condition in another form', 'input.a == 1', 'input.a  ==  1'],
    ['a part of the later one', 'input.a == 1', 'input.b && input.a == 1'],
    ['one of two, and the later one is that', 'input.a == 1 || input.b', 'input.a == 1'],
    ['a larger range', 'input.amount > 100', 'input.amount > 1000'],
    ['a larger range downwards', 'input.amount <= -5', 'input.amount < -5 && now.hour > 8'],
    ['a range that holds the number', 'input.amount >= 100', 'input.amount == 100.0'],
    ['always true', 'true', 'input.a == 1'],
  ])('after one whose condition is %s', (_why, first, later) => {
    const rules = `      - { when: '${first}' }\n      - { when: '${later}', policy: default }\n`;
    expect(warningsOf(server(rules))).toEqual([
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test.each([
    ['another condition', 'input.a == 1', 'input.a == 2'],
    ['a smaller range', 'input.amount > 1000', 'input.amount > 100'],
    ['the same limit, without the limit itself', 'input.amount > 100', 'input.amount >= 100'],
    ['the other direction', 'input.amount > 100', 'input.amount < 1000'],
    ['more than the later one', 'input.a && input.b', 'input.a'],
    ['another value', 'input.a > 1', 'input.b > 2'],
  ])('but not after one whose condition is %s', (_why, first, later) => {
    const rules = `      - { when: '${first}' }\n      - { when: '${later}', policy: default }\n`;
    expect(warningsOf(server(rules))).toEqual([]);
  });

  test.each([
    ['days between two dates', "now.date > '2026-12-20' && now.date < '2027-01-05'"],
    ['a number between two others', 'input.amount > 1 && input.amount < 2'],
    ['one of two texts', "input.a == 'x' || input.a == 'y'"],
    ['neither of two texts', "input.a != 'x' && input.a != 'y'"],
  ])('but not with a condition for %s', (_why, when) => {
    expect(warningsOf(server(`      - { when: "${when}" }\n      - {}\n`))).toEqual([]);
  });

  test('with a condition that is always false', () => {
    expect(warningsOf(server('      - { when: "false" }\n      - {}\n'))).toEqual([
      'manifest.yml:5:17: tools.s.approval[0].when: this rule is never used: its condition is always false',
    ]);
  });

  test('after a denial of everything, and where a denial names a policy', () => {
    const deny = '{ require: deny, reason: "No.", policy: default }';
    expect(warningsOf(server(`      - ${deny}\n      - {}\n`))).toEqual([
      'manifest.yml:5:49: tools.s.approval[0].policy: with "require: deny" nobody is asked, so no policy is used',
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test.each([
    [
      'an earlier rule has a condition',
      '      - { match: "*", when: "input.a == 1" }\n      - { match: "get_*" }\n',
    ],
    ['the earlier pattern is narrower', '      - { match: "get_user*" }\n      - { match: "get_*" }\n'],
    [
      'a question mark stands for less than a star',
      '      - { match: "get_?" }\n      - { match: "get_*" }\n',
    ],
  ])('but not where %s', (_why, rules) => {
    expect(warningsOf(server(rules))).toEqual([]);
  });
});

describe('the default policy is not needed', () => {
  test.each([
    ['a tool never asks', 'module: ./a.ts, approval: { require: never }'],
    ['a tool is denied', 'module: ./a.ts, approval: { require: deny, reason: No. }'],
    [
      'a rule names another',
      'module: ./a.ts, approval: [{ policy: other, when: "input.a == 1" }, { require: never }]',
    ],
    [
      'the rule after a "never" names another',
      'module: ./a.ts, approval: [{ require: never, when: "input.a == 1" }, { policy: other }]',
    ],
    [
      'the last rule of a server is for all',
      'mcp: { command: node }, approval: [{ match: "get_*", require: never }, { policy: other }]',
    ],
  ])('where %s', (_why, tool) => {
    const text = `tools: { a: { ${tool} } }\npolicies: { other: { approvers: [S0APPROVE1] } }\n`;
    expect(held(text).manifest.policies.has('default')).toBe(false);
  });
});
