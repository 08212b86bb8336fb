import { conditionEnvironment } from '../../gate/condition.ts';
import { didYouMean } from './nearest-word.ts';

const VARIABLES = ['input', 'requester', 'requesters', 'context_authors', 'channel', 'tool', 'now'];
const NOW_FIELDS = ['date', 'weekday', 'hour', 'minute'];

interface ExpressionProblem {
  /** The offset of the mistake in the expression. */
  readonly inside: number;
  readonly message: string;
}

/** Checks a CEL expression: its syntax, its variables, and the type of its result. */
export function checkExpression(
  expression: string,
  {
    what,
    types,
    expected,
  }: { readonly what: string; readonly types: readonly string[]; readonly expected: string },
): ExpressionProblem | undefined {
  const { valid, type, error } = conditionEnvironment.check(expression);
  if (valid) {
    if (type === 'dyn' || types.includes(String(type))) return undefined;
    return { inside: 0, message: `${expected}, but this is of type ${type}` };
  }
  const inside = error?.range?.start ?? 0;
  const summary = error?.summary ?? 'it cannot be read';
  const reason = summary === 'Unexpected token: EOF' ? 'it is incomplete' : summary;
  const [, missing] = /^No such key: (\S+)$/.exec(reason) ?? [];
  if (missing !== undefined) {
    const guess = didYouMean(missing, NOW_FIELDS) || `; now has ${NOW_FIELDS.join(', ')}`;
    return { inside, message: `now has no "${missing}"${guess}` };
  }
  const [, unknown] = /^Unknown variable: (\S+)$/.exec(reason) ?? [];
  if (unknown === undefined) return { inside, message: `this is not a valid CEL ${what}: ${reason}` };
  const guess = didYouMean(unknown, VARIABLES) || `; the variables are ${VARIABLES.join(', ')}`;
  return { inside, message: `unknown variable "${unknown}"${guess}` };
}
