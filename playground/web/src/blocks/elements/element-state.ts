import type { FormValues } from '../../../../protocol.ts';
import type { Block, JsonObject } from '../../../../slack/state/types.ts';
import { isObject, objects, stringOf, strings } from '../json.ts';

/** A value entered into an element; an empty string empties it. */
export type Value = FormValues[string];

/** An element and the id of its top-level block, under which Slack looks it up. */
export interface Slot {
  readonly blockId: string;
  readonly element: JsonObject;
}

const INITIAL: Readonly<Record<string, (element: JsonObject) => Value>> = {
  plain_text_input: ({ initial_value }) => stringOf(initial_value),
  email_text_input: ({ initial_value }) => stringOf(initial_value),
  url_text_input: ({ initial_value }) => stringOf(initial_value),
  number_input: ({ initial_value }) => stringOf(initial_value),
  rich_text_input: ({ initial_value }) => (isObject(initial_value) ? initial_value : ''),
  static_select: ({ initial_option }) => optionValue(initial_option),
  external_select: ({ initial_option }) => optionValue(initial_option),
  radio_buttons: ({ initial_option }) => optionValue(initial_option),
  multi_static_select: ({ initial_options }) => objects(initial_options).map(optionValue),
  multi_external_select: ({ initial_options }) => objects(initial_options).map(optionValue),
  checkboxes: ({ initial_options }) => objects(initial_options).map(optionValue),
  users_select: ({ initial_user }) => stringOf(initial_user),
  multi_users_select: ({ initial_users }) => strings(initial_users),
  channels_select: ({ initial_channel }) => stringOf(initial_channel),
  multi_channels_select: ({ initial_channels }) => strings(initial_channels),
  conversations_select: ({ initial_conversation }) => stringOf(initial_conversation),
  multi_conversations_select: ({ initial_conversations }) => strings(initial_conversations),
  datepicker: ({ initial_date }) => stringOf(initial_date),
  timepicker: ({ initial_time }) => stringOf(initial_time),
  datetimepicker: ({ initial_date_time }) => (typeof initial_date_time === 'number' ? initial_date_time : ''),
};

/** Returns the initial value of an element; undefined for one without a value, such as a button. */
export function initialOf(element: JsonObject): Value | undefined {
  return INITIAL[stringOf(element.type)]?.(element);
}

/** True when nothing is chosen or written; blanks do not count. */
export function isEmptyValue(value: Value | undefined): boolean {
  if (value === undefined) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value === 'number') return false;
  return Array.isArray(value) ? value.length === 0 : textOfRichText(value).trim() === '';
}

/** Returns the key under which the page stores an element's value. */
export function keyOf({ blockId, element }: Slot): string {
  return JSON.stringify([blockId, stringOf(element.action_id)]);
}

/** Lists the elements of these blocks that have a value. */
export function slotsOf(blocks: readonly Block[]): Slot[] {
  return blocks.flatMap((block) =>
    elementsIn(block)
      .filter((element) => initialOf(element) !== undefined)
      .map((element) => ({ blockId: block.block_id, element })),
  );
}

/**
 * Collects the entered values as they are sent: by block id, or by action id when a block has several elements. Values
 * of removed blocks and of the clicked element are left out.
 */
export function collectValues(
  blocks: readonly Block[],
  filled: ReadonlyMap<string, Value>,
  clicked?: Slot,
): FormValues {
  const slots = slotsOf(blocks);
  const except = clicked === undefined ? undefined : keyOf(clicked);
  const entries = slots.flatMap((slot): [string, Value][] => {
    const key = keyOf(slot);
    const value = filled.get(key);
    if (value === undefined || key === except) return [];
    const isAlone = slots.filter(({ blockId }) => blockId === slot.blockId).length === 1;
    return [[isAlone ? slot.blockId : stringOf(slot.element.action_id), value]];
  });
  return Object.fromEntries(entries);
}

/** Returns initial values for menus that default to the open conversation. */
export function presetFor(blocks: readonly Block[], channel: string): ReadonlyMap<string, Value> {
  const slots = slotsOf(blocks).filter(({ element }) => element.default_to_current_conversation === true);
  return new Map(
    slots.map((slot) => [keyOf(slot), Array.isArray(initialOf(slot.element)) ? [channel] : channel]),
  );
}

/** Wraps a text as rich text; an empty string stays empty. */
export function richTextOf(text: string): Value {
  if (text === '') return '';
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }];
  return { type: 'rich_text', elements };
}

/** Returns the plain text of rich text, one line per passage. */
export function textOfRichText(value: unknown): string {
  if (!isObject(value)) return '';
  if (typeof value.text === 'string') return value.text;
  if (typeof value.url === 'string') return value.url;
  const inner = objects(value.elements).map(textOfRichText);
  return inner.join(value.type === 'rich_text' || value.type === 'rich_text_list' ? '\n' : '');
}

function optionValue(option: unknown): string {
  return isObject(option) ? stringOf(option.value) : '';
}

function elementsIn(block: JsonObject): JsonObject[] {
  const own = block.type === 'actions' || block.type === 'context_actions' ? objects(block.elements) : [];
  return [
    ...own,
    ...objects([block.accessory, block.element]),
    ...objects(block.child_blocks).flatMap(elementsIn),
  ];
}

/** Props of an element from its block. */
export interface ElementProps extends Slot {
  /** True when a change is sent immediately. */
  readonly dispatches: boolean;
  /** Id of its control, for labels. */
  readonly id: string;
  /** Id of its label; missing when only the placeholder names it. */
  readonly labelledBy?: string;
  readonly describedBy?: string;
  readonly isInvalid: boolean;
  readonly isRequired: boolean;
}

/** Returns the aria attributes of a control. */
export function ariaOf(props: ElementProps, name: string) {
  return {
    ...(props.labelledBy === undefined ? { 'aria-label': name } : { 'aria-labelledby': props.labelledBy }),
    ...(props.describedBy !== undefined && { 'aria-describedby': props.describedBy }),
    ...(props.isInvalid && { 'aria-invalid': true }),
    ...(props.element.focus_on_load === true && { 'data-focus-on-load': true }),
  };
}
