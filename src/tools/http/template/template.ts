import { DefinitionError } from '../../../agent/errors/definition-error.ts';
import type { JsonObject } from '../../../agent/json.ts';
import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';

/** The way to one input: `{{input.order.id}}` is `['order', 'id']`. */
export type InputPath = readonly string[];

/** A text cut into what stands as it is and what an input replaces. */
export type TextTemplate = readonly (string | InputPath)[];

/** What an input may hold in the middle of a text. */
export type Scalar = string | number | boolean;

const MARK = /(\{\{[^{}]*\}\})/;
const PLACEHOLDER = /^\{\{\s*input((?:\.[\w-]+)+)\s*\}\}$/;

/** Cuts a text at its `{{input.name}}` placeholders; anything else in double braces is a mistake, never sent as it is. */
export function parseTemplate(text: string): TextTemplate {
  return text
    .split(MARK)
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

/** Lists the inputs that a template names, in its texts and however deep in its tree, each once. */
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

/** The one path of a text that is nothing but a placeholder, whose value keeps its type. */
export function wholePlaceholder(template: TextTemplate): InputPath | undefined {
  const [only, ...others] = template;
  return others.length === 0 && typeof only === 'object' ? only : undefined;
}

/** Finds what the caller gave at a path, among own properties only; `undefined` is what was not given. */
export function valueAt(input: JsonValue, path: InputPath): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const name of path) {
    if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else if (Array.isArray(value) && /^\d+$/.test(name)) value = value[Number(name)];
    else return undefined;
  }
  return value;
}

/** Fills a text, each value written by `encode`; `undefined` when one of its inputs was not given or is null. */
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

/** The input at a path where only one word can stand. */
export function scalarAt(input: JsonObject, path: InputPath): Scalar | undefined {
  const value = valueAt(input, path);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object') {
    throw new HttpError(
      'invalid-input',
      `"${path.join('.')}" must be a text, a number or true/false where it stands; nothing was sent.`,
    );
  }
  return value;
}

/** Percent-encodes a text so that no letter of it can end or open a part of a URL. */
export function percentEncode(text: string, path: InputPath): string {
  try {
    return encodeURIComponent(text).replace(
      /[!'()*]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch (cause) {
    throw new HttpError(
      'invalid-input',
      `"${path.join('.')}" holds half of a character and cannot be written into a URL; nothing was sent.`,
      { cause },
    );
  }
}

/** Fills `a=1&b={{input.b}}`; a pair with an input that was not given is left out. */
export function fillPairs(text: readonly TextTemplate[], input: JsonObject): string[] {
  return text.map((pair) => fillText(pair, input, percentEncode)).filter((pair) => pair !== undefined);
}
