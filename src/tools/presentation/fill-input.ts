import { isJsonObject, type JsonValue } from '../../agent/json.ts';
import {
  fillDisplayTemplate,
  parseDisplayTemplate,
  placeholdersIn,
  placeholderValue,
  type TemplateValues,
} from './text-template.ts';

/** Fills the input of a tool that the manifest calls; a text that is one placeholder keeps the type of its value. */
export function fillInput(value: JsonValue, values: TemplateValues): JsonValue {
  if (typeof value === 'string') {
    const { template } = parseDisplayTemplate(value);
    const [only, ...rest] = template;
    if (typeof only === 'object' && rest.length === 0 && only.format === undefined)
      return placeholderValue(only, values) ?? null;
    return fillDisplayTemplate(template, values);
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => fillInput(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, fillInput(entry, values)]));
}

/** Tells whether every value that the texts of an input name is there. */
export function hasAllValues(value: JsonValue, values: TemplateValues): boolean {
  if (typeof value === 'string') {
    const { template } = parseDisplayTemplate(value);
    return placeholdersIn(template).every((part) => placeholderValue(part, values) !== undefined);
  }
  if (Array.isArray(value)) return value.every((item: JsonValue) => hasAllValues(item, values));
  return !isJsonObject(value) || Object.values(value).every((entry) => hasAllValues(entry, values));
}

/** Output from outside is marked for the model; a template reads what is inside. */
export function unwrapOutput(output: JsonValue): JsonValue {
  return isJsonObject(output) && output.untrusted_output !== undefined ? output.untrusted_output : output;
}
