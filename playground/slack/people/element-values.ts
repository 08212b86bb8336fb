import { LIMITS } from '../limits.ts';
import { elementsOf, objects } from '../state/normalize-blocks.ts';
import type { Block, JsonObject } from '../state/types.ts';
import { NotPossible } from './not-possible.ts';

/** A value entered by a person: text, an option's value, an id, a date, or several of them. */
export type InputValue = string | number | readonly string[] | JsonObject;

/** The state field and the initial field of each element type. */
const FIELDS: Readonly<Record<string, { field: string; initial: string; empty: null | readonly [] }>> = {
  plain_text_input: { field: 'value', initial: 'initial_value', empty: null },
  email_text_input: { field: 'value', initial: 'initial_value', empty: null },
  url_text_input: { field: 'value', initial: 'initial_value', empty: null },
  number_input: { field: 'value', initial: 'initial_value', empty: null },
  rich_text_input: { field: 'rich_text_value', initial: 'initial_value', empty: null },
  static_select: { field: 'selected_option', initial: 'initial_option', empty: null },
  radio_buttons: { field: 'selected_option', initial: 'initial_option', empty: null },
  external_select: { field: 'selected_option', initial: 'initial_option', empty: null },
  multi_static_select: { field: 'selected_options', initial: 'initial_options', empty: [] },
  multi_external_select: { field: 'selected_options', initial: 'initial_options', empty: [] },
  checkboxes: { field: 'selected_options', initial: 'initial_options', empty: [] },
  users_select: { field: 'selected_user', initial: 'initial_user', empty: null },
  multi_users_select: { field: 'selected_users', initial: 'initial_users', empty: [] },
  channels_select: { field: 'selected_channel', initial: 'initial_channel', empty: null },
  multi_channels_select: { field: 'selected_channels', initial: 'initial_channels', empty: [] },
  conversations_select: { field: 'selected_conversation', initial: 'initial_conversation', empty: null },
  multi_conversations_select: {
    field: 'selected_conversations',
    initial: 'initial_conversations',
    empty: [],
  },
  datepicker: { field: 'selected_date', initial: 'initial_date', empty: null },
  timepicker: { field: 'selected_time', initial: 'initial_time', empty: null },
  datetimepicker: { field: 'selected_date_time', initial: 'initial_date_time', empty: null },
};

/** Options from the app's last answers, by element; dropped when the element is replaced. */
const offered = new WeakMap<JsonObject, readonly JsonObject[]>();

/** True for an element whose content Slack sends along as state. */
export function hasState(element: JsonObject): boolean {
  return FIELDS[String(element.type)] !== undefined;
}

/** Returns the state of an element with `value` (`''` empties it), or its initial state without one. */
export function stateOf(element: JsonObject, value: InputValue | undefined): JsonObject {
  const type = String(element.type);
  const fields = FIELDS[type];
  if (fields === undefined)
    throw new NotPossible(`A person cannot fill in a ${type} here; use one of ${Object.keys(FIELDS)}.`);
  const { field, initial, empty } = fields;
  if (value === undefined) return { type, [field]: element[initial] ?? empty };
  return { type, [field]: value === '' ? empty : accept(element, value) };
}

/** True when nothing was chosen or typed. */
export function isEmpty(state: JsonObject): boolean {
  const { type: _type, ...content } = state;
  return Object.values(content).every(
    (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
  );
}

/** Returns the state of all elements of these blocks, by block and action; throws for values without an element. */
export function collectState(
  blocks: readonly Block[],
  filled: Readonly<Record<string, InputValue>>,
): JsonObject {
  const values: Record<string, JsonObject> = {};
  const used = new Set<string>();
  for (const block of blocks) {
    for (const element of elementsOf(block).filter(hasState)) {
      const actionId = String(element.action_id);
      const key = [block.block_id, actionId].find((candidate) => filled[candidate] !== undefined);
      if (key !== undefined) used.add(key);
      const state = stateIn(block, element, key === undefined ? undefined : filled[key]);
      values[block.block_id] = { ...values[block.block_id], [actionId]: state };
    }
  }
  const unknown = Object.keys(filled).filter((key) => !used.has(key));
  if (unknown.length > 0) {
    throw new NotPossible(
      `There is nothing to fill in called ${unknown.join(', ')}; there is ${JSON.stringify(values)}.`,
      { shown: 'This message has changed. Check it and try again.' },
    );
  }
  return values;
}

/** Stores the options that the app offered for an external menu, so that a person can choose them. */
export function rememberOffered(element: JsonObject, options: readonly JsonObject[]): void {
  offered.set(element, [...(offered.get(element) ?? []), ...options]);
}

/** The options a person sees in a menu, of all groups. */
export function optionsOf(element: JsonObject): JsonObject[] {
  return [
    ...(offered.get(element) ?? []),
    ...objects(element.options),
    ...objects(element.option_groups).flatMap((group) => objects(group.options)),
  ];
}

function stateIn(block: Block, element: JsonObject, value: InputValue | undefined): JsonObject {
  try {
    return stateOf(element, value);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    throw new NotPossible(error.message, { shown: error.shown, blockId: block.block_id });
  }
}

function accept(element: JsonObject, value: InputValue): unknown {
  switch (element.type) {
    case 'static_select':
    case 'external_select':
    case 'radio_buttons':
      return pick(element, value);
    case 'multi_static_select':
    case 'multi_external_select':
    case 'checkboxes':
      return list(value).map((each) => pick(element, each));
    case 'multi_users_select':
    case 'multi_channels_select':
    case 'multi_conversations_select':
      return list(value);
    case 'plain_text_input':
      return acceptText(element, String(value));
    case 'number_input':
      return acceptNumber(element, String(value));
    case 'email_text_input':
      return matching(String(value), /^\S+@\S+\.\S+$/, 'an email address');
    case 'url_text_input':
      return matching(String(value), /^https?:\/\/\S+$/, 'an address');
    case 'datepicker':
      return matching(String(value), /^\d{4}-\d{2}-\d{2}$/, 'a date');
    case 'timepicker':
      return matching(String(value), /^\d{2}:\d{2}$/, 'a time');
    default:
      return value;
  }
}

function pick(element: JsonObject, value: unknown): JsonObject {
  const options = optionsOf(element);
  const chosen = options.find((option) => option.value === value);
  if (chosen === undefined) {
    const there = options.map((option) => option.value).join(', ');
    throw new NotPossible(`${String(element.action_id)} has no option ${String(value)}; it has ${there}.`, {
      shown: 'Choose one of the options.',
    });
  }
  return structuredClone(chosen);
}

function list(value: InputValue): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function acceptText(element: JsonObject, value: string): string {
  const minimum = Number(element.min_length ?? 0);
  const maximum = Number(element.max_length ?? LIMITS.inputText);
  if (value.length < minimum || value.length > maximum) {
    throw new NotPossible(
      `${String(element.action_id)} takes ${minimum} to ${maximum} characters, not ${value.length}.`,
      { shown: `Enter ${minimum} to ${maximum} characters; there are ${value.length}.` },
    );
  }
  return value;
}

function acceptNumber(element: JsonObject, value: string): string {
  const number = Number(value);
  const fits =
    Number.isFinite(number) &&
    (element.is_decimal_allowed === true || Number.isInteger(number)) &&
    number >= Number(element.min_value ?? Number.NEGATIVE_INFINITY) &&
    number <= Number(element.max_value ?? Number.POSITIVE_INFINITY);
  if (!fits) {
    throw new NotPossible(`${String(element.action_id)} does not take the number ${value}.`, {
      shown: `${value} is not an allowed number.`,
    });
  }
  return value;
}

function matching(value: string, pattern: RegExp, what: string): string {
  if (!pattern.test(value)) throw new NotPossible(`${value} is not ${what}.`);
  return value;
}
