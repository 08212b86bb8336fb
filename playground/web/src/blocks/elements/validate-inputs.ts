import type { Block, JsonObject } from '../../../../slack/state/types.ts';
import { isObject, numberOf, stringOf } from '../json.ts';
import { initialOf, isEmptyValue, keyOf, type Slot, slotsOf, type Value } from './element-state.ts';

/** Returns the errors that Slack's own client shows, by block id: empty required inputs and invalid values. */
export function validateInputs(
  blocks: readonly Block[],
  filled: ReadonlyMap<string, Value>,
): Readonly<Record<string, string>> {
  const problems = blocks.flatMap((block): [string, string][] => {
    const { element } = block;
    if (block.type !== 'input' || !isObject(element)) return [];
    const value = filled.get(keyOf({ blockId: block.block_id, element })) ?? initialOf(element);
    const problem = isEmptyValue(value)
      ? block.optional !== true && 'Please complete this required field.'
      : problemOf(element, value);
    return problem === false || problem === undefined ? [] : [[block.block_id, problem]];
  });
  return Object.fromEntries(problems);
}

/** Removes invalid values, for a click next to an unfinished input. */
export function withoutInvalid(
  blocks: readonly Block[],
  filled: ReadonlyMap<string, Value>,
): ReadonlyMap<string, Value> {
  const wrong = slotsOf(blocks)
    .filter((slot) => isInvalidValue(slot, filled.get(keyOf(slot))))
    .map(keyOf);
  return new Map([...filled].filter(([key]) => !wrong.includes(key)));
}

/** True for a value that is not empty and not valid. */
export function isInvalidValue({ element }: Slot, value: Value | undefined): boolean {
  return !isEmptyValue(value) && problemOf(element, value) !== undefined;
}

function problemOf(element: JsonObject, value: Value | undefined): string | undefined {
  const text = stringOf(value);
  switch (element.type) {
    case 'plain_text_input':
      return lengthProblem(element, text.length);
    case 'number_input':
      return numberProblem(element, text);
    case 'email_text_input':
      return /^\S+@\S+\.\S+$/.test(text) ? undefined : 'Please enter a valid email address.';
    case 'url_text_input':
      return /^https?:\/\/\S+$/.test(text) && URL.canParse(text) ? undefined : 'Please enter a valid URL.';
    default:
      return undefined;
  }
}

function lengthProblem(element: JsonObject, length: number): string | undefined {
  const least = numberOf(element.min_length) ?? 0;
  const most = numberOf(element.max_length) ?? 3000;
  if (length < least) return `Please enter at least ${least} characters; there are ${length}.`;
  return length > most ? `Please enter at most ${most} characters; there are ${length}.` : undefined;
}

function numberProblem(element: JsonObject, text: string): string | undefined {
  const number = /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) return 'Please enter a whole number.';
  const least = numberOf(element.min_value);
  const most = numberOf(element.max_value);
  if (least !== undefined && number < least) return `Please enter a number of at least ${least}.`;
  return most !== undefined && number > most ? `Please enter a number of at most ${most}.` : undefined;
}
