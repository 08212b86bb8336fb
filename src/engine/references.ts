import { isJsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { boundProblem } from '../policy/condition.ts';
import type { PlanInput } from '../tools/built-ins.ts';
import type { ToolEntry } from '../tools/toolbox/toolbox.ts';

/** A value of a step that comes from the output of an earlier one. */
export interface Reference {
  /** The place of the value in the input. */
  readonly at: readonly string[];
  /** The number of the earlier step in the proposal, and the way to the value in its output. */
  readonly step: number;
  readonly path: readonly string[];
}

const REFERENCE = /\{\{\s*steps\.(\d{1,2})\.output((?:\.[\w-]+)*)\s*\}\}/g;
const LOOKS_LIKE_ONE = /\{\{\s*steps\b/;

/** Lists the references in an input, in order. */
export function referencesIn(input: JsonValue, at: readonly string[] = []): readonly Reference[] {
  if (typeof input === 'string')
    return [...input.matchAll(REFERENCE)].map(([, step, path = '']) => ({
      ...{ at, step: Number(step), path: path.split('.').slice(1) },
    }));
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) => referencesIn(value, [...at, key]));
}

/** Tells whether a text or a name in an input looks like a reference, also if it is none. */
export function mayRefer(input: JsonValue): boolean {
  return LOOKS_LIKE_ONE.test(JSON.stringify(input));
}

/** Says in one sentence why the values of a step cannot come from earlier ones; `undefined` if they can. */
export function deferredProblem(
  { input: given, bounds = [] }: PlanInput['steps'][number],
  number: number,
  { tool, preview }: Pick<ToolEntry, 'tool' | 'preview'>,
): string | undefined {
  const input = toJson(given);
  const references = referencesIn(input);
  const late = references.find(({ step }) => step < 1 || step >= number);
  if (late !== undefined) return `"{{steps.${late.step}…}}" is no earlier step.`;
  if (mayRefer(withoutReferences(input)))
    return 'a reference is the text of a value, such as "{{steps.1.output.id}}".';
  if (references.length === 0)
    return bounds.length === 0 ? undefined : 'its arguments are exact, so a bound says nothing about them.';
  for (const bound of bounds) {
    const problem = boundProblem(bound);
    if (problem !== undefined) return `the bound "${bound}" cannot be used: ${problem}.`;
  }
  if (preview !== undefined) return 'people see what it would change, so its arguments must be exact.';
  const { properties } = tool.inputSchema.jsonSchema;
  const unset = Object.entries(isJsonObject(properties) ? properties : {}).find(
    ([name, schema]) => isJsonObject(schema) && schema.default !== undefined && !Object.hasOwn(given, name),
  );
  if (unset !== undefined) return `write out "${unset[0]}" as well, so that people see it.`;
  const fit = tool.inputSchema.parse(input);
  const isReferred = (field: string) => references.some(({ at }) => isSamePlace(at.join('.'), field));
  if (fit.ok || isReferred(fit.field)) return undefined;
  return `the input does not fit the schema at "${fit.field}": ${fit.problem}`;
}

/** Tells whether one place is the other, or inside it. */
function isSamePlace(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

function withoutReferences(input: JsonValue): JsonValue {
  return replaceReferences(input, () => '') ?? '';
}

/** Replaces each reference: one that is a whole text by the value as it is, one inside a text by the value as text. `undefined` if one has none. */
export function replaceReferences(
  input: JsonValue,
  find: (reference: Omit<Reference, 'at'>) => JsonValue | undefined,
): JsonValue | undefined {
  if (typeof input === 'string') return replaceInText(input, find);
  if (Array.isArray(input)) {
    const items = input.map((item: JsonValue) => replaceReferences(item, find));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (!isJsonObject(input)) return input;
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(input)) {
    const replaced = replaceReferences(value, find);
    if (replaced === undefined) return undefined;
    entries.push([key, replaced]);
  }
  return Object.fromEntries(entries);
}

function replaceInText(
  text: string,
  find: (reference: Omit<Reference, 'at'>) => JsonValue | undefined,
): JsonValue | undefined {
  const found = [...text.matchAll(REFERENCE)].map(([whole, step, path = '']) => ({
    ...{ whole, value: find({ step: Number(step), path: path.split('.').slice(1) }) },
  }));
  const [only] = found;
  if (only === undefined) return text;
  if (only.whole === text) return only.value;
  if (found.some(({ value }) => !['string', 'number', 'boolean'].includes(typeof value))) return undefined;
  const values = found.map(({ value }) => String(value));
  return text.replaceAll(REFERENCE, () => values.shift() ?? '');
}

/** Finds a value in the output of a step; what comes from outside is marked, and a reference means what is in it. */
export function valueIn(output: JsonValue, path: readonly string[]): JsonValue | undefined {
  const isMarked = isJsonObject(output) && Object.keys(output).join() === 'untrusted_output';
  let value: JsonValue | undefined = isMarked ? toJson(output.untrusted_output) : output;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    const inside: unknown = Reflect.get(value, key);
    value = Array.isArray(value) && !/^\d+$/.test(key) ? undefined : toJson(inside);
  }
  return value;
}
