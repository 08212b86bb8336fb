import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileCondition } from '../../src/policy/condition.ts';

const page = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^\| `(.+)` \| `(\{.*\})` \| `(\{.*\})` \|$/gm)].map(
  ([, condition = '', yes = '', no = '']) => ({ condition: condition.replaceAll('\\|', '|'), yes, no }),
);
const verdict = (condition: string, input: string) =>
  compileCondition(condition)({
    input: JSON.parse(input),
    requester: 'U012ABCDEF',
    channel: 'C0GENERAL1',
    tool: 'sample',
  });

test('the page of rules has ten examples of conditions', () => {
  expect(examples).toHaveLength(10);
});

test.each(examples)('$condition is true for $yes and false for $no', ({ condition, yes, no }) => {
  expect([verdict(condition, yes), verdict(condition, no)]).toEqual([true, false]);
});

test('an argument that is not there cannot be evaluated, as the page says', () => {
  expect(verdict("input.reason == 'x'", '{}')).toEqual({ error: expect.any(String) });
});

test('every function that the page names exists', () => {
  const named = [
    `size(input.text) > 0 && input.text.startsWith('a') && input.text.endsWith('c') && input.text.contains('b')`,
    `input.text.upperAscii().trim().indexOf('B') == 1 && input.text.substring(1) == 'bc'`,
    `input.text.split('b').join('-') == 'a-c' && int('1') == 1 && string(1) == '1'`,
    `input.list.exists_one(i, i == 2) && input.list.filter(i, i > 1).map(i, i + 1.0) == [3.0, 4.0]`,
    `'text' in input`,
  ];
  for (const condition of named)
    expect(verdict(condition, '{"text": "abc", "list": [1, 2, 3]}'), condition).toBe(true);
});
