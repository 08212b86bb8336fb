import { Environment } from '@marcbachmann/cel-js';
import type { JsonValue } from '../../agent/json.ts';

/** What a condition may speak of. */
export interface Circumstances {
  readonly input: JsonValue;
  readonly requester: string;
  readonly channel: string;
  readonly tool: string;
}

/** A condition made ready: `true` and `false` are what it says, and an error is a reason to be careful. */
export type Condition = (circumstances: Circumstances) => boolean | { readonly error: string };

/** What every condition may speak of, and of what type it is. */
export const conditionEnvironment = new Environment()
  .registerVariable('input', 'dyn')
  .registerVariable('requester', 'string')
  .registerVariable('channel', 'string')
  .registerVariable('tool', 'string');

/** Compiles a CEL expression; one that does not compile throws. */
export function compileCondition(expression: string): Condition {
  const evaluate = conditionEnvironment.parse(expression);
  return (circumstances) => {
    try {
      const said: unknown = evaluate({ ...circumstances });
      return typeof said === 'boolean' ? said : { error: 'it is neither true nor false' };
    } catch (error) {
      const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      return { error: firstLine };
    }
  };
}
