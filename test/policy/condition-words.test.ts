import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { inputWords } from '../../src/engine/facets/input-words.ts';
import { conditionInWords } from '../../src/policy/condition.ts';
import { createPresentation } from '../../src/tools/presentation/presentation.ts';

test.each([
  ['input.amount > 10000', '"amount" is more than 10000'],
  ['input.order.total >= -1.5', '"order.total" is at least -1.5'],
  ['input.force', '"force" is true'],
  ['!input.force', '"force" is not true'],
  ['requester == "U1" && now.hour < 8', 'the requester is "U1" and the hour is less than 8'],
  ['now.weekday in ["saturday", "sunday"]', 'the weekday is one of "saturday", "sunday"'],
  ['input.a == 1 && (input.b == 2 || channel != "C1")', '"a" is 1 and ("b" is 2 or the channel is not "C1")'],
  ['"U1" in requesters', '""U1" in requesters"'],
  ['size(input.items) > 5 || input.all', '"size(input.items) > 5" or "all" is true'],
  ["'S0FINANCE1' in requester.groups", 'the requester is in the user group S0FINANCE1'],
  ["!('S0FINANCE1' in requester.groups)", 'the requester is not in the user group S0FINANCE1'],
  ['size(requester.groups) > 1', '"size(requester.groups) > 1"'],
  [
    "tool.reversible == 'no' && !first.tool",
    "it can't be undone and it is not the requester's first call of this tool",
  ],
  ["tool.reversible != 'no'", 'it can be undone'],
  [
    "tool.reversible == 'undo' || tool.reversible == 'yes'",
    'it can be undone for a while or it can be undone at any time',
  ],
  [
    'first.target || first.pair',
    "it is the first call of this tool for this target or it is the requester's first call of this tool for this target",
  ],
  ["tool.reversible.startsWith('y')", '"tool.reversible.startsWith("y")"'],
  ['input.amount >', '"input.amount >"'],
])('%s is said as %s', (condition, words) => {
  expect(conditionInWords(condition)).toBe(words);
});

test('an input is said with the label and the format of the card', () => {
  const tool = defineTool(
    { name: 'refund', description: '', inputSchema: z.object({ amount: z.number(), to: z.string() }) },
    () => 'ok',
  );
  const presentation = createPresentation(tool, {
    title: "Refund {{input.amount | money('USD', 'cents')}}",
    fields: { 'Paid to': '{{input.to}}' },
  });
  const said = (condition: string) => conditionInWords(condition, inputWords(presentation));
  expect(said('input.amount > 10000')).toBe('Amount is more than $100.00');
  expect(said('input.amount > 10000 && input.to != "Bob"')).toBe(
    'Amount is more than $100.00 and Paid to is not "Bob"',
  );
  expect(said('input.amount in [100, 200]')).toBe('Amount is one of $1.00, $2.00');
});
