import { expect, test } from 'vitest';
import { z } from 'zod';
import { isNotDone } from '../../src/agent/errors.ts';
import { toPauseMetadata } from '../../src/agent/pause.ts';
import { compileSchema } from '../../src/agent/schema/compile-schema.ts';
import { withAsk } from '../../src/tools/pause.ts';

const tool = {
  name: 'paint',
  kind: 'tool',
  outputSchema: undefined,
  resumedSchema: compileSchema(z.object({ colour: z.enum(['red', 'blue']) }), 'paint', 'form'),
} as const;
const red = { label: 'Red', resumed: { colour: 'red' } };

test.each([
  ['no object', 'Which?', /takes an object/],
  ['an empty message', { message: ' ' }, /"message" is empty/],
  ['no choices', { choices: [] }, /"choices" is empty, so nobody could answer/],
  [
    '200 choices',
    { choices: Array.from({ length: 200 }, (_, at) => `${at}`) },
    /"choices" has more than 100/,
  ],
  ['two equal labels', { choices: [red, red] }, /two choices have the label "Red"/],
  ['labels that differ in case', { choices: ['Red', ' red'] }, /two choices have the label " red"/],
  ['an empty label', { choices: ['Red', ''] }, /"choices\.1"/],
  [
    'choices beside a form',
    { choices: ['Red'], form: z.object({}) },
    /one of "choices" and "form", not both/,
  ],
  [
    'another colour',
    { choices: [{ label: 'Green', resumed: { colour: 'green' } }] },
    /the choice "Green" does not fit resumedSchema at "colour"/,
  ],
  ['a form of nonsense', { form: { type: 'nonsense' } }, /"form" is no schema that can be used/],
  [
    'a report of nonsense',
    { callback: { result: { type: 'nonsense' } } },
    /"callback\.result" is no schema that can be used/,
  ],
  ['a link that runs', { callback: { link: 'javascript:alert(1)' } }, /"callback\.link" is no web address/],
])('a pause with %s is one error by which the call has failed', (_what, asks, message) => {
  const pause = () => toPauseMetadata(asks, tool);
  expect(pause).toThrow(message);
  expect(pause).toThrow(/Tool "paint": interrupt\(\)/);
  expect(thrownBy(pause)).toSatisfy(isNotDone);
});

test.each([
  ['200 choices', Array.from({ length: 200 }, (_, at) => `${at}`), /more than 100 choices/],
  ['two equal choices', ['Red', 'red '], /two choices are the same/],
  ['an empty choice', ['Red', ' '], /a choice is empty/],
])('an input with %s is one error by which the call has failed', (_what, choices, message) => {
  const pause = () => withAsk({}, { tool, input: { choices }, answerers: () => 'requester' });
  expect(pause).toThrow(message);
  expect(thrownBy(pause)).toSatisfy(isNotDone);
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
