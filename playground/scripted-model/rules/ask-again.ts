import { describeOutcome } from '../describe-outcome.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const AGAIN =
  /^The request for (\S+) expired\. Please ask for it again with exactly these arguments: (\{[\s\S]*\})$/;

/** Repeats the call of an expired card after a click on "Ask again". */
export const askAgain: Rule = {
  example: 'Click Ask again on an expired card.',
  patterns: [AGAIN],

  next({ text, calls, approvalRuleFor }) {
    const [, name = '', input = '{}'] = AGAIN.exec(text) ?? [];
    const repeated = latestCall(calls, name);
    if (repeated === undefined)
      return callTools(
        { name, arguments: toObject(input) },
        'I ask for it once more, unchanged.',
        approvalRuleFor(name),
      );
    if (repeated.outcome.kind === 'closed')
      return reply(describeOutcome(`the call of ${name}`, repeated.outcome));
    return reply(`Done after all: \`${JSON.stringify(repeated.outcome.output)}\`.`);
  },
};

function toObject(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
