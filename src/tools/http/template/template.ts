import { DefinitionError } from '../../../agent/errors.ts';
import type { JsonObject } from '../../../agent/json.ts';
import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';

/** The path of one input: `{{input.order.id}}` is `['order', 'id']`. */
export type InputPath = readonly string[];

/** A text split into literal parts and inputs. */
export type TextTemplate = readonly (string | InputPath)[];

/** A value that can be inserted into a text. */
export type Scalar = string | number | boolean;

const DELIMITER = /(\{\{[^{}]*\}\})/;
const PLACEHOLDER = /^\{\{\s*input((?:\.[\w-]+)+)\s*\}\}$/;

/** Splits a text at its `{{input.name}}` placeholders; anything else in double braces is a mistake. */
export function parseTemplate(text: string): TextTemplate {
  return text
    .split(DELIMITER)
    .filter((part) => part !== '')
    .map((part) => {
      const [, path] = PLACEHOLDER.exec(part) ?? [];
      if (path !== undefined) return path.slice(1).split('.');
      if (!part.includes('{{')) return part;
      const written = part.slice(part.indexOf('{{'), part.indexOf('{{') + 40);
      throw new DefinitionError(
        'invalid-option',
        `"${written}" is not a placeholder; write {{input.name}}, or {{input.name.inner}} for what lies inside it`,
      );
    });
}

/** Lists the inputs that a template names, each once, at any depth of its tree. */
export function placeholdersOf(template: JsonValue): readonly InputPath[] {
  const found = new Map<string, InputPath>();
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string') {
      for (const part of parseTemplate(value)) if (typeof part !== 'string') found.set(part.join('.'), part);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(template);
  return [...found.values()];
}

/** Returns the path of a text that is one placeholder and nothing else; its value keeps its type. */
export function wholePlaceholder(template: TextTemplate): InputPath | undefined {
  const [only, ...others] = template;
  return others.length === 0 && typeof only === 'object' ? only : undefined;
}

/** Returns the value at a path, among own properties only. */
export function valueAt(input: JsonValue, path: InputPath): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const name of path) {
    if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else if (Array.isArray(value) && /^\d+$/.test(name)) value = value[Number(name)];
    else return undefined;
  }
  return value;
}

/** Fills a text with encoded values; returns `undefined` when one of its inputs is missing or null. */
export function fillText(
  template: TextTemplate,
  input: JsonObject,
  encode: (text: string, path: InputPath) => string,
): string | undefined {
  const parts = template.map((part) => {
    if (typeof part === 'string') return part;
    const value = scalarAt(input, part);
    return value === undefined ? undefined : encode(String(value), part);
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** Returns the input at a path where only a scalar is allowed. */
export function scalarAt(input: JsonObject, path: InputPath): Scalar | undefined {
  const value = valueAt(input, path);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object') {
    throw new HttpError(
      'invalid-input',
      `"${path.join('.')}" must be a text, a number or true/false here; nothing was sent.`,
    );
  }
  return value;
}

/** Percent-encodes a text, so that no character of it can begin or end a part of a URL. */
export function percentEncode(text: string, path: InputPath): string {
  try {
    return encodeURIComponent(text).replace(
      /[!'()*]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch (cause) {
    throw new HttpError(
      'invalid-input',
      `"${path.join('.')}" contains an invalid Unicode character and can't be used in a URL; nothing was sent.`,
      { cause },
    );
  }
}

/** Fills `a=1&b={{input.b}}`; a pair with a missing input is left out. */
export function fillPairs(text: readonly TextTemplate[], input: JsonObject): string[] {
  return text.map((pair) => fillText(pair, input, percentEncode)).filter((pair) => pair !== undefined);
}
