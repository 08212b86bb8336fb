import { describeOutcome } from '../describe-outcome.ts';
import { callTools, formatOutput, latestCall, type Rule, reply } from '../rule.ts';

const AGAIN =
  /^The request for (\S+) expired\. Please ask for it again with exactly these arguments: (\{[\s\S]*\})$/;

/** Repeats the call of an expired card after a click on "Request again". */
export const askAgain: Rule = {
  example: 'Click Request again on an expired card.',
  patterns: [AGAIN],

  next({ text, calls, approvalNote }) {
    const [, name = '', input = '{}'] = AGAIN.exec(text) ?? [];
    const repeated = latestCall(calls, name);
    if (repeated === undefined)
      return callTools(
        { name, arguments: toObject(input) },
        'Asking again with the same arguments.',
        approvalNote(name),
      );
    if (repeated.outcome.kind === 'closed')
      return reply(describeOutcome('the repeated request', repeated.outcome));
    return reply(`Done: ${formatOutput(repeated.outcome.output)}`);
  },
};

function toObject(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
