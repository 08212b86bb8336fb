import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const AGAIN =
  /^The request for (\S+) expired\. Please ask for it again with exactly these arguments: (\{[\s\S]*\})$/;

/** What the button "Ask again" of an expired card says for the person: the same call once more. */
export const askAgain: Scene = {
  example: 'Click Ask again on an expired card.',
  takes: [AGAIN],

  play({ words, steps, ruleFor }) {
    const [, name = '', input = '{}'] = AGAIN.exec(words) ?? [];
    const repeated = latest(steps, name);
    if (repeated === undefined)
      return call({ name, arguments: toObject(input) }, 'I ask for it once more, unchanged.', ruleFor(name));
    if (repeated.outcome.kind === 'closed') return say(tellClosed(`the call of ${name}`, repeated.outcome));
    return say(`Done after all: \`${JSON.stringify(repeated.outcome.output)}\`.`);
  },
};

function toObject(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
