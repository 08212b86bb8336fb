import { conditionEnvironment } from '../gate/condition.ts';
import { didYouMean } from './nearest-word.ts';

const VARIABLES = ['input', 'requester', 'channel', 'tool'];

export interface ConditionProblem {
  /** How many characters into the expression it stands. */
  readonly inside: number;
  readonly message: string;
}

/** Says what is wrong with a CEL condition: its syntax, a variable that there is not, or an answer other than true or false. */
export function checkCondition(expression: string): ConditionProblem | undefined {
  const { valid, type, error } = conditionEnvironment.check(expression);
  if (valid) {
    if (type === 'bool' || type === 'dyn') return undefined;
    return { inside: 0, message: `a condition must be true or false, but this is of type ${type}` };
  }
  const inside = error?.range?.start ?? 0;
  const summary = error?.summary ?? 'it cannot be read';
  const reason = summary === 'Unexpected token: EOF' ? 'it breaks off' : summary;
  const [, unknown] = /^Unknown variable: (\S+)$/.exec(reason) ?? [];
  if (unknown === undefined) return { inside, message: `this is not a valid CEL condition: ${reason}` };
  const guess = didYouMean(unknown, VARIABLES) || `; a condition speaks of ${VARIABLES.join(', ')}`;
  return { inside, message: `unknown variable "${unknown}"${guess}` };
}
