import type { JsonObject, JsonValue } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';
import {
  fillPairs,
  fillText,
  parseTemplate,
  percentEncode,
  scalarAt,
  type TextTemplate,
  valueAt,
  wholePlaceholder,
} from './template.ts';

/** A query parameter: a text with placeholders, a number, true or false, or a list of them. */
export type QueryValue = string | number | boolean | readonly (string | number | boolean)[];

/** A parsed URL template; only its path and its query can change. */
export interface UrlTemplate {
  readonly origin: string;
  readonly segments: readonly TextTemplate[];
  readonly pairs: readonly TextTemplate[];
  readonly query: readonly (readonly [name: string, value: QueryValue])[];
}

const URL_SHAPE = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?$/i;
// A server may accept either slash, so ".." between backslashes counts as well.
const STEP = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;
const STEP_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** Parses a URL template; returns a text that says what is wrong with one that cannot be used. */
export function parseUrlTemplate(
  url: string,
  query: Readonly<Record<string, QueryValue>> = {},
): UrlTemplate | string {
  // URL parsers silently drop or change these, so people would read another URL than the one that is called.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  if (/[\u0000-\u0020\u007f\\]/.test(url.replace(/\{\{[^{}]*\}\}/g, ''))) {
    return 'it may hold no blank, control character or backslash';
  }
  const [, start, path = '', search] = URL_SHAPE.exec(url) ?? [];
  if (start === undefined) return 'it must look like https://host/path?query, with no "#"';
  if (start.includes('{{')) return 'its scheme, host and port may hold no placeholder';
  if (start.includes('@')) return 'it may hold no user name or password; send credentials in a header';
  if (!URL.canParse(start)) return `"${start}" is not a host that can be called`;
  return {
    origin: new URL(start).origin,
    segments: path.split('/').slice(1).map(parseTemplate),
    pairs: (search ?? '').split('&').filter(Boolean).map(parseTemplate),
    query: Object.entries(query),
  };
}

/** Fills the URL of one call. No input can change its origin or the number of its path segments. */
export function fillUrl(template: UrlTemplate, input: JsonObject): URL {
  const path = template.segments.map((segment) => `/${fillSegment(segment, input)}`).join('');
  const pairs = [
    ...fillPairs(template.pairs, input),
    ...template.query.flatMap(([name, value]) =>
      [value]
        .flat()
        .flatMap((entry) => fillQuery(entry, input))
        .map((text) => `${percentEncode(name, ['query'])}=${text}`),
    ),
  ];
  const url = new URL(`${template.origin}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`);
  // The code above guarantees this; a second check costs nothing.
  if (url.origin !== template.origin || url.username !== '' || url.password !== '') {
    throw new HttpError('invalid-input', 'The input would change the host of the call; nothing was sent.');
  }
  return url;
}

function fillSegment(segment: TextTemplate, input: JsonObject): string {
  if (segment.every((part) => typeof part === 'string')) return segment.join('');
  const names = segment.filter((part) => typeof part !== 'string').map((path) => path.join('.'));
  const filled = fillText(segment, input, (text, path) => {
    if (STEP.test(text)) throw unusable(names);
    return percentEncode(text, path);
  });
  if (filled === undefined || filled === '' || STEP_SEGMENT.test(filled)) throw unusable(names);
  return filled;
}

function unusable(names: readonly string[]): HttpError {
  return new HttpError(
    'invalid-input',
    `"${names.join('", "')}" is in the path of a URL and may not be empty, "." or ".."; nothing was sent.`,
  );
}

function fillQuery(entry: string | number | boolean, input: JsonObject): string[] {
  if (typeof entry !== 'string') return [String(entry)];
  const template = parseTemplate(entry);
  const whole = wholePlaceholder(template);
  const list = whole === undefined ? undefined : valueAt(input, whole);
  if (whole !== undefined && Array.isArray(list)) {
    return list.flatMap((value: JsonValue) => {
      const scalar = scalarAt({ value }, ['value']);
      return scalar === undefined ? [] : [percentEncode(String(scalar), whole)];
    });
  }
  const plain = template.map((part) => (typeof part === 'string' ? percentEncode(part, ['query']) : part));
  const filled = fillText(plain, input, percentEncode);
  return filled === undefined ? [] : [filled];
}
