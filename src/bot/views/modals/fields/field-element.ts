import type { InputBlockElement, MultiStaticSelect, PlainTextOption, StaticSelect } from '@slack/types';
import type { JsonObject, JsonValue } from '../../../../agent/json.ts';
import { exampleEntry, type FormatCall, writeEntry } from '../../../../tools/presentation/formats.ts';
import { limits } from '../../../slack/limits.ts';
import { plain } from '../../cards/card.ts';
import { showJson } from '../../cards/render-value.ts';
import { hasHidden, showLabel } from '../../texts/show-text.ts';
import { entryId, momentText } from './read-field.ts';
import type { Choice, Field } from './schema-fields.ts';

const DECIMAL = /^-?\d+(\.\d+)?$/;

/**
 * Builds the input for a field with a value. Its action id says how to parse it: `json` if the field's own kind cannot hold the value
 * exactly (a text with invisible characters, an empty list that must stay one), and the format if a number is entered as the card
 * shows it. So what was typed is read as it was asked for, also if the manifest has changed since.
 */
export function buildElement(
  field: Field,
  value: JsonValue | undefined,
  format?: FormatCall,
): InputBlockElement {
  const shown = format && shownElement(field, value, format);
  return shown ?? ownElement(field, value) ?? jsonElement(value);
}

/** Builds an input that has the value as the card shows it; `undefined` if there is none that can hold it. */
function shownElement(
  field: Field,
  value: JsonValue | undefined,
  format: FormatCall,
): InputBlockElement | undefined {
  if (field.kind.type === 'text' && format.name === 'date' && typeof value === 'string')
    return (
      ownElement({ ...field, kind: { type: 'date' } }, value) ??
      ownElement({ ...field, kind: { type: 'moment' } }, value)
    );
  if (field.kind.type !== 'number' || exampleEntry(format) === undefined) return undefined;
  if (value === null && field.isNullable && field.isRequired) return shownElement(field, undefined, format);
  const text = value === undefined ? '' : writeEntry(value, format);
  if (text === undefined) return undefined;
  const initial = text === '' ? {} : { initial_value: text };
  return { type: 'plain_text_input', action_id: entryId(format), ...initial };
}

function jsonElement(value: JsonValue | undefined): InputBlockElement {
  const initial = value === undefined ? {} : { initial_value: showJson(value) };
  return { type: 'plain_text_input', action_id: 'json', multiline: true, ...initial };
}

/** Builds the input of the field's kind; `undefined` if there is none or it cannot hold the value. */
function ownElement(field: Field, value: JsonValue | undefined): InputBlockElement | undefined {
  // An empty required nullable field means null; an empty optional one means no value.
  if (value === null && field.isNullable && field.isRequired) return ownElement(field, undefined);
  const { kind, schema } = field;
  const action_id = kind.type;
  switch (kind.type) {
    case 'json':
      return undefined;
    case 'text':
    case 'email':
    case 'url': {
      if (value !== undefined && !isPlainText(value)) return undefined;
      const initial = value === undefined ? {} : { initial_value: value };
      if (kind.type === 'text')
        return { type: 'plain_text_input', action_id, multiline: isLong(schema, value), ...initial };
      if (value?.includes('\n')) return undefined;
      if (kind.type === 'email') return { type: 'email_text_input', action_id, ...initial };
      const isWeb = value === undefined || /^https?:\/\//.test(value);
      return isWeb
        ? { type: 'url_text_input', action_id, ...initial }
        : { type: 'plain_text_input', action_id, ...initial };
    }
    case 'date':
      if (value === undefined) return { type: 'datepicker', action_id };
      return isDate(value) ? { type: 'datepicker', action_id, initial_date: value } : undefined;
    case 'moment': {
      if (value === undefined) return { type: 'datetimepicker', action_id };
      const seconds = typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN;
      const fits =
        seconds >= limits.earliestMoment && seconds <= limits.latestMoment && momentText(seconds) === value;
      return fits ? { type: 'datetimepicker', action_id, initial_date_time: seconds } : undefined;
    }
    case 'number': {
      if (value !== undefined && !(typeof value === 'number' && DECIMAL.test(String(value))))
        return undefined;
      return {
        type: 'number_input',
        action_id,
        is_decimal_allowed: !kind.isInteger,
        ...(value !== undefined && { initial_value: String(value) }),
        ...boundsOf(schema, kind.isInteger, value),
      };
    }
    case 'boolean': {
      const options = [optionOf('Yes', 1), optionOf('No', 0)];
      if (value !== undefined && typeof value !== 'boolean') return undefined;
      const initial = options.filter(
        (option) => value !== undefined && option.value === String(Number(value)),
      );
      // Radio buttons cannot be cleared again, so they are only for what must be chosen.
      if (!field.isRequired || field.isNullable)
        return { action_id, ...menuOf(options, { several: false, initial }) };
      const [first] = initial;
      return {
        type: 'radio_buttons',
        action_id,
        options,
        ...(first !== undefined && { initial_option: first }),
      };
    }
    case 'choice': {
      const options = optionsFor(kind.choices);
      const initial = initialOptions(kind.choices, options, value === undefined ? [] : [value]);
      return initial && { action_id, ...menuOf(options, { several: false, initial }) };
    }
    case 'choices': {
      if (value !== undefined && !isHeldByList(field, value)) return undefined;
      const options = optionsFor(kind.choices);
      const initial = initialOptions(kind.choices, options, Array.isArray(value) ? value : []);
      return initial && { action_id, ...menuOf(options, { several: true, initial }) };
    }
    case 'lines': {
      if (value === undefined) return { type: 'plain_text_input', action_id, multiline: true };
      if (!isHeldByList(field, value)) return undefined;
      const items: readonly JsonValue[] = Array.isArray(value) ? value : [];
      const areLines = items.every((item) =>
        kind.of === 'number' ? typeof item === 'number' : isPlainText(item) && !item.includes('\n'),
      );
      const initial = items.length === 0 ? {} : { initial_value: items.join('\n') };
      return areLines ? { type: 'plain_text_input', action_id, multiline: true, ...initial } : undefined;
    }
  }
}

/** Tells whether a list input can hold the value: an empty input means an empty list only if the list is required. */
function isHeldByList({ isRequired, isNullable }: Field, value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value) && (value.length > 0 || (isRequired && !isNullable));
}

/** Tells whether an input returns a text unchanged: Slack trims it, and people lose invisible characters. */
function isPlainText(value: JsonValue): value is string {
  return typeof value === 'string' && value !== '' && value.trim() === value && !hasHidden(value);
}

/** A text takes several lines if it has some already, is long, or may become much longer than a label. */
function isLong({ maxLength }: JsonObject, value: string | undefined): boolean {
  if (value !== undefined && (value.includes('\n') || value.length > limits.label)) return true;
  return typeof maxLength === 'number' && maxLength > limits.label;
}

function isDate(value: JsonValue): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

/** Sets Slack's bounds if they match the schema exactly; the schema checks the rest. */
function boundsOf(schema: JsonObject, isInteger: boolean, value: JsonValue | undefined) {
  const step = (bound: JsonValue | undefined, by: number) =>
    isInteger && typeof bound === 'number' ? bound + by : undefined;
  const least = schema.minimum ?? step(schema.exclusiveMinimum, 1);
  const most = schema.maximum ?? step(schema.exclusiveMaximum, -1);
  const isUsable = (bound: JsonValue | undefined): bound is number =>
    typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER && DECIMAL.test(String(bound));
  // Slack refuses a form whose initial value is out of bounds, but the person has to see and correct it.
  const isWithin =
    typeof value !== 'number' || ((!isUsable(least) || value >= least) && (!isUsable(most) || value <= most));
  return {
    ...(isWithin && isUsable(least) && { min_value: String(least) }),
    ...(isWithin && isUsable(most) && { max_value: String(most) }),
  };
}

function optionsFor(choices: readonly Choice[]): PlainTextOption[] {
  const labels = choices.map(
    ({ value, label }) => label ?? (typeof value === 'string' ? value : showJson(value)),
  );
  const areShort = labels.every(
    (label) => showLabel(label, Number.POSITIVE_INFINITY).length <= limits.optionText,
  );
  return labels.map((label, index) => optionOf(areShort ? label : `${index + 1}. ${label}`, index));
}

function optionOf(label: string, value: number): PlainTextOption {
  return { text: plain(showLabel(label, limits.optionText)), value: String(value) };
}

function initialOptions(
  choices: readonly Choice[],
  options: readonly PlainTextOption[],
  values: readonly JsonValue[],
): PlainTextOption[] | undefined {
  const chosen = values.flatMap(
    (value) => options[choices.findIndex((choice) => choice.value === value)] ?? [],
  );
  return chosen.length === values.length && new Set(chosen).size === chosen.length ? chosen : undefined;
}

/** Builds a menu; options that exceed one list are put into numbered groups. */
export function menuOf(
  options: PlainTextOption[],
  { several, initial = [] }: { readonly several: boolean; readonly initial?: PlainTextOption[] },
): StaticSelect | MultiStaticSelect {
  const source = options.length <= limits.selectOptions ? { options } : { option_groups: groupsOf(options) };
  const [first] = initial;
  if (!several)
    return { type: 'static_select', ...source, ...(first !== undefined && { initial_option: first }) };
  return { type: 'multi_static_select', ...source, ...(first !== undefined && { initial_options: initial }) };
}

function groupsOf(options: readonly PlainTextOption[]) {
  const starts = Array.from(
    { length: Math.ceil(options.length / limits.selectOptions) },
    (_, index) => index * limits.selectOptions,
  );
  return starts.map((start) => {
    const group = options.slice(start, start + limits.selectOptions);
    return { label: plain(`${start + 1} to ${start + group.length}`), options: group };
  });
}
