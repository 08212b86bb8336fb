import { findLossyNumber, isDeeperThan, type JsonValue } from '../../../../agent/json.ts';
import type { CompiledSchema } from '../../../../agent/schema/json-schema.ts';
import {
  applyFormat,
  exampleEntry,
  type FormatCall,
  readEntry,
} from '../../../../tools/presentation/formats.ts';
import { limits } from '../../../slack/limits.ts';
import { readJson } from '../../cards/render-value.ts';
import { modalTexts } from '../../texts/modals.ts';
import { cut, showLabel, showLine } from '../../texts/show-text.ts';
import { type InputState, parseModalState, type Submission } from '../modal.ts';
import { type Choice, type Field, fieldsOf, WHOLE, wholeField } from './schema-fields.ts';

/** A parsed input: a value, no value, or a problem. */
type Entered =
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly problem: string };

const ENTRY = 'as';
/** The room for a label or a value within an error, which has to say more. */
const NAMED = 60;

/** Returns the action id of an input for a number that is entered as the card shows it. */
export function entryId({ name, args }: FormatCall): string {
  return [ENTRY, name, ...args].join(' ');
}

function entryFormatOf(actionId: string): FormatCall | undefined {
  const [prefix, name, ...args] = actionId.split(' ');
  return prefix === ENTRY && name !== undefined ? { name, args } : undefined;
}

/** Says what is to be entered in an input by its action id; '' if its label says enough. */
export function entryInWords(actionId: string): string {
  const format = entryFormatOf(actionId);
  const example = format && exampleEntry(format);
  return format === undefined || example === undefined ? '' : modalTexts.entry(format, example);
}

/** Parses one input by its action id, which says how the form had built it. */
function readField(
  field: Field,
  input: { readonly actionId: string; readonly state: InputState } | undefined,
): Entered {
  if (input === undefined) return { ok: true, value: emptyOf(field) };
  const { actionId, state } = input;
  const { kind } = field;
  const text = state.value ?? '';
  if (actionId === 'json') return text.trim() === '' ? { ok: true, value: undefined } : readJsonText(text);
  // A picker may stand for a text that the card shows as a date.
  const picked = pickedIn(actionId, state);
  if (picked !== undefined) return { ok: true, value: picked ?? emptyOf(field) };
  switch (kind.type) {
    case 'number': {
      if (text.trim() === '') return { ok: true, value: emptyOf(field) };
      const format = entryFormatOf(actionId);
      if (format === undefined) return readNumber(text);
      const value = readEntry(text, format);
      if (value !== undefined && (!kind.isInteger || Number.isSafeInteger(value))) return { ok: true, value };
      return { ok: false, problem: modalTexts.enter(entryInWords(actionId)) };
    }
    case 'boolean': {
      const chosen = state.selected_option?.value;
      return { ok: true, value: chosen === undefined ? emptyOf(field) : chosen === '1' };
    }
    case 'choice':
      return readChoices(
        kind.choices,
        state.selected_option ? [state.selected_option.value] : [],
        (values) => (values.length === 0 ? emptyOf(field) : values[0]),
      );
    case 'choices':
      return readChoices(
        kind.choices,
        (state.selected_options ?? []).map(({ value }) => value),
        (values) => (values.length === 0 ? emptyOf(field) : values),
      );
    case 'lines':
      return readLines(field, kind.of, text);
    default:
      return { ok: true, value: text === '' ? emptyOf(field) : text };
  }
}

/** Returns what a picker holds, `null` for nothing; `undefined` if the input is no picker. */
function pickedIn(actionId: string, state: InputState): string | null | undefined {
  if (actionId === 'date') return state.selected_date ?? null;
  if (actionId !== 'moment') return undefined;
  return typeof state.selected_date_time === 'number' ? momentText(state.selected_date_time) : null;
}

/** Returns the meaning of an empty input. */
function emptyOf({ kind, isRequired, isNullable }: Field): JsonValue | undefined {
  if (!isRequired) return undefined;
  if (isNullable) return null;
  return kind.type === 'lines' || kind.type === 'choices' ? [] : undefined;
}

function readLines(field: Field, of: 'text' | 'number', text: string): Entered {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return { ok: true, value: emptyOf(field) };
  if (of === 'text') return { ok: true, value: lines };
  const numbers = lines.map(readNumber);
  return (
    numbers.find(({ ok }) => !ok) ?? {
      ok: true,
      value: numbers.flatMap((each) => (each.ok && each.value !== undefined ? [each.value] : [])),
    }
  );
}

function readChoices(
  choices: readonly Choice[],
  chosen: readonly string[],
  toValue: (values: JsonValue[]) => JsonValue | undefined,
): Entered {
  const found = chosen.flatMap((value) => (/^\d+$/.test(value) ? (choices[Number(value)] ?? []) : []));
  if (found.length !== chosen.length) return { ok: false, problem: modalTexts.notAChoice };
  return { ok: true, value: toValue(found.map(({ value }) => value)) };
}

function readNumber(text: string): Entered {
  const number = Number(text.trim());
  if (!Number.isFinite(number) || !/^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text.trim()))
    return { ok: false, problem: modalTexts.notANumber(cut(showLine(text.trim()), NAMED)) };
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  // A rounded number is not what the person wrote.
  if (digits.length > 15 && String(number) !== text.trim())
    return { ok: false, problem: modalTexts.tooManyDigits };
  return { ok: true, value: number };
}

function readJsonText(text: string): Entered {
  try {
    const value = readJson(text);
    const problem = unkept(value, text);
    return problem === undefined ? { ok: true, value } : { ok: false, problem };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: cut(showLine(modalTexts.notJson(why)), limits.errorText) };
  }
}

/** Returns why a value would not be stored, or not be shown, as it was written. */
function unkept(value: JsonValue, text: string): string | undefined {
  if (isDeeperThan(limits.depth, value)) return modalTexts.tooDeep(limits.depth);
  const number = findLossyNumber(text);
  if (number === undefined) return undefined;
  return modalTexts.lossyNumber(cut(number.literal, limits.label));
}

/** Writes a moment of Slack's picker as JSON Schema's `date-time`; the same moment always gives the same text. */
export function momentText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Parses a submitted form into a value that its schema accepts, or returns an error for each invalid input. */
export function parseSubmission(schema: CompiledSchema, values: unknown): Submission<JsonValue> {
  const inputs = parseModalState(values);
  const fields = inputs.has(WHOLE) ? [wholeField(schema.jsonSchema)] : fieldsOf(schema.jsonSchema);
  const errors: Record<string, string> = {};
  const entries: [field: Field, value: JsonValue][] = [];
  for (const field of fields) {
    const input = inputs.get(field.blockId);
    const entered = readField(field, input);
    if (!entered.ok) errors[field.blockId] = problemIn(field, entered.problem);
    else if (entered.value === undefined && field.isRequired) errors[field.blockId] = modalTexts.fillThisIn;
    else if (entered.value !== undefined) {
      entries.push([field, entered.value]);
      const bound = brokenBound(field, entered.value, entryFormatOf(input?.actionId ?? ''));
      if (bound !== undefined) errors[field.blockId] = problemIn(field, bound);
    }
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const [only] = entries;
  const value =
    only !== undefined && only[0].name === undefined
      ? only[1]
      : Object.fromEntries(entries.map(([{ name = '' }, entry]) => [name, entry]));
  const checked = schema.parse(value);
  if (checked.ok) return { ok: true, value };
  return { ok: false, errors: placeError(fields, checked.field, checked.problem) };
}

type Bound = keyof typeof modalTexts.bounds;
const BOUNDS: readonly (readonly [keyword: Bound, isBroken: (value: number, bound: number) => boolean])[] = [
  ['minimum', (value, bound) => value < bound],
  ['exclusiveMinimum', (value, bound) => value <= bound],
  ['maximum', (value, bound) => value > bound],
  ['exclusiveMaximum', (value, bound) => value >= bound],
];

/** Says which bound of its schema a number breaks, as the card would write it. */
function brokenBound(
  { schema }: Field,
  value: JsonValue,
  format: FormatCall | undefined,
): string | undefined {
  if (typeof value !== 'number') return undefined;
  for (const [keyword, isBroken] of BOUNDS) {
    const bound = schema[keyword];
    if (typeof bound !== 'number' || !isBroken(value, bound)) continue;
    const shown = applyFormat(bound, format ?? { name: 'number', args: [] })?.text ?? String(bound);
    return modalTexts.bounds[keyword](shown);
  }
  return undefined;
}

/** Names the field of a problem, which has only visible characters. */
function problemIn({ label, name }: Field, problem: string): string {
  return cut(name === undefined ? problem : `${showLabel(label, NAMED)}: ${problem}`, limits.errorText);
}

/** Assigns an error at a path to the input of its first property, or else to the first input. */
function placeError(
  fields: readonly Field[],
  path: string,
  problem: string,
): Readonly<Record<string, string>> {
  const [owner] = fields
    .filter(({ name }) => name !== undefined && (path === name || path.startsWith(`${name}.`)))
    .sort((left, right) => (right.name?.length ?? 0) - (left.name?.length ?? 0));
  const rest = owner?.name === undefined ? path : path.slice(owner.name.length + 1);
  const message = showLine(rest === '' ? problem : `${rest}: ${problem}`);
  if (owner !== undefined) return { [owner.blockId]: problemIn(owner, message) };
  return { [fields[0]?.blockId ?? WHOLE]: cut(message, limits.errorText) };
}
