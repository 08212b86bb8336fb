import type { JsonObject } from '../../agent/json.ts';
import { HttpError } from './http-error.ts';
import { type InputPath, type Scalar, type TextTemplate, valueAt } from './placeholders.ts';

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
