import { Environment } from '@marcbachmann/cel-js';
import type { JsonValue } from '../../agent/json.ts';
import { describeError } from '../../agent/util/describe-error.ts';

/** The variables of a condition. */
export interface ConditionInput {
  readonly input: JsonValue;
  readonly requester: string;
  readonly channel: string;
  readonly tool: string;
}

/** A compiled condition; an error means that it could not be evaluated. */
export type Condition = (values: ConditionInput) => boolean | { readonly error: string };

/** Declares the variables of every condition with their types. */
export const conditionEnvironment = new Environment()
  .registerVariable('input', 'dyn')
  .registerVariable('requester', 'string')
  .registerVariable('channel', 'string')
  .registerVariable('tool', 'string');

/** Compiles a CEL expression; one that does not compile throws. */
export function compileCondition(expression: string): Condition {
  const evaluate = conditionEnvironment.parse(expression);
  return (values) => {
    try {
      const result: unknown = evaluate({ ...values });
      return typeof result === 'boolean' ? result : { error: 'it is neither true nor false' };
    } catch (error) {
      const [firstLine = ''] = describeError(error).split('\n');
      return { error: firstLine };
    }
  };
}
