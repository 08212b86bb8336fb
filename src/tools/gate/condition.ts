import { Environment } from '@marcbachmann/cel-js';
import type { JsonValue } from '../../agent/json.ts';
import { describeError } from '../../agent/util/describe-error.ts';

/** The variables of a condition. */
export interface ConditionInput {
  readonly input: JsonValue;
  readonly requester: string;
  readonly requesters?: readonly string[];
  readonly contextAuthors?: readonly string[];
  readonly channel: string;
  readonly tool: string;
}

/** A compiled condition; an error means that it could not be evaluated. */
export type Condition = (values: ConditionInput) => boolean | { readonly error: string };

/** Declares the variables of every condition with their types. */
export const conditionEnvironment = new Environment()
  .registerVariable('input', 'dyn')
  .registerVariable('requester', 'string')
  .registerVariable('requesters', 'list<string>')
  .registerVariable('context_authors', 'list<string>')
  .registerVariable('channel', 'string')
  .registerVariable('tool', 'string');

/** Compiles a condition; one that does not compile throws. */
export function compileCondition(expression: string): Condition {
  const evaluate = compileExpression(expression);
  return (values) => {
    const result = evaluate(values);
    if ('error' in result) return result;
    return typeof result.value === 'boolean' ? result.value : { error: 'it is neither true nor false' };
  };
}

/** Compiles a CEL expression of any type; one that does not compile throws. */
export function compileExpression(
  expression: string,
): (values: ConditionInput) => { readonly value: unknown } | { readonly error: string } {
  const evaluate = conditionEnvironment.parse(expression);
  return ({ requesters, contextAuthors = [], ...values }) => {
    const people = {
      requesters: [...(requesters ?? [values.requester])],
      context_authors: [...contextAuthors],
    };
    try {
      const value: unknown = evaluate({ ...values, ...people });
      return { value };
    } catch (error) {
      const [firstLine = ''] = describeError(error).split('\n');
      return { error: firstLine };
    }
  };
}
