import { Environment } from '@marcbachmann/cel-js';
import { describeError } from '../../agent/errors.ts';
import type { JsonValue } from '../../agent/json.ts';
import { localTime } from './local-time.ts';

/** The used part of each limit, by its name. */
export type LimitTotals = ReadonlyMap<string, { readonly count: number; readonly sum: number }>;

/** The variables of a condition. */
export interface ConditionInput {
  readonly input: JsonValue;
  readonly requester: string;
  readonly requesters?: readonly string[];
  readonly contextAuthors?: readonly string[];
  readonly channel: string;
  readonly tool: string;
  /** The time of the call; this moment if it is left out. */
  readonly now?: Date | undefined;
  /** The time zone of `now`; UTC if it is left out. */
  readonly timeZone?: string | undefined;
  /** The totals that `count` and `sum` see; a condition that asks for a limit without its total cannot be evaluated. */
  readonly totals?: LimitTotals | undefined;
}

/** A compiled condition; an error means that it could not be evaluated. */
export type Condition = (values: ConditionInput) => boolean | { readonly error: string };

// A condition is evaluated in one go, so its functions find the totals of its call here.
let totalsNow: LimitTotals | undefined;

function totalOf(name: string): { readonly count: number; readonly sum: number } {
  const total = totalsNow?.get(name);
  if (total === undefined) throw new Error(`nothing is known about the limit "${name}" here`);
  return total;
}

/** Declares the variables of every condition with their types. */
export const conditionEnvironment = new Environment()
  .registerVariable('input', 'dyn')
  .registerVariable('requester', 'string')
  .registerVariable('requesters', 'list<string>')
  .registerVariable('context_authors', 'list<string>')
  .registerVariable('channel', 'string')
  .registerVariable('tool', 'string')
  .registerVariable('now', {
    schema: { date: 'string', weekday: 'string', hour: 'int', minute: 'int' },
  })
  .registerFunction('count(string): int', (name: string) => BigInt(totalOf(name).count))
  .registerFunction('sum(string): double', (name: string) => totalOf(name).sum);

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
  const isTimed = /\bnow\b/.test(expression);
  return ({ requesters, contextAuthors = [], now = new Date(), timeZone = 'UTC', totals, ...values }) => {
    const others = {
      requesters: [...(requesters ?? [values.requester])],
      context_authors: [...contextAuthors],
    };
    try {
      totalsNow = totals;
      const value: unknown = evaluate({
        ...values,
        ...others,
        ...(isTimed && { now: localTime(now, timeZone) }),
      });
      return { value };
    } catch (error) {
      const [firstLine = ''] = describeError(error).split('\n');
      return { error: firstLine };
    }
  };
}
