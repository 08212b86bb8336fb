import { DefinitionError } from '../../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import { HttpError } from '../errors.ts';
import { parseDisplayTemplate, placeholdersIn, valueAt } from '../presentation/text-template.ts';

/** The path of one input: `{{input.order.id}}` is `['order', 'id']`. */
export type InputPath = readonly string[];

/** A text split into literal parts and inputs. */
type TextTemplate = readonly (string | InputPath)[];

/** A value that can be inserted into a text. */
type Scalar = string | number | boolean;

/** Splits a text at its `{{input.name}}` placeholders; anything else in double braces is a mistake. */
export function parseTemplate(text: string): TextTemplate {
  const { template, problems } = parseDisplayTemplate(text);
  const wrong = placeholdersIn(template).filter(
    ({ root, path, format }) => root !== 'input' || path.length === 0 || format !== undefined,
  );
  if (wrong.length > 0 || problems.length > 0) {
    const written = text.slice(Math.min(...[...wrong, ...problems].map(({ offset }) => offset)));
    throw new DefinitionError(
      'invalid-option',
      `"${written.replace(/\}\}[\s\S]*$/, '}}').slice(0, 40)}" is not a placeholder; write {{input.name}}, or {{input.name.inner}} for what lies inside it`,
    );
  }
  return template.map((part) => (typeof part === 'string' ? part : part.path));
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

/** Fills a text with encoded values; returns `undefined` when one of its inputs is missing or null. */
function fillText(
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
function scalarAt(input: JsonObject, path: InputPath): Scalar | undefined {
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
function percentEncode(text: string, path: InputPath): string {
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
function fillPairs(text: readonly TextTemplate[], input: JsonObject): string[] {
  return text.map((pair) => fillText(pair, input, percentEncode)).filter((pair) => pair !== undefined);
}

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

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
// These belong to the connection: with them one request could be read as two, or as one for another host.
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the problem of a header's name, if it has one. */
export function headerNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'this is not the name of a header, and none may hold a placeholder';
  const lower = name.toLowerCase();
  return CONNECTION_HEADERS.has(lower) || lower.startsWith('proxy-')
    ? 'this header belongs to the connection and cannot be set'
    : undefined;
}

/** Tells whether a text is a valid header value: one line of Latin-1, without control characters. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/** Fills the headers of one call. A header with a missing input is left out; an invalid value is an error. */
export function fillHeaders(headers: Readonly<Record<string, string>>, input: JsonObject): Headers {
  const filled = new Headers();
  for (const [name, text] of Object.entries(headers)) {
    const value = fillText(parseTemplate(text), input, (part, path) => {
      if (isHeaderValue(part)) return part;
      throw new HttpError(
        'invalid-input',
        `"${path.join('.')}" is in the header ${name} and may hold no line break, control character or letter beyond Latin-1; nothing was sent.`,
      );
    });
    if (value !== undefined) filled.set(name, value);
  }
  return filled;
}

type BodyFormat = 'json' | 'form' | 'markup' | 'plain';

/** Returns how values are encoded in a body of this content type; `undefined` where there is no safe way. */
export function bodyFormat(contentType: string | undefined, body: JsonValue): BodyFormat | undefined {
  if (contentType === undefined) return typeof body === 'string' ? 'plain' : 'json';
  const [type = ''] = contentType.toLowerCase().split(';');
  const essence = type.trim();
  if (/^[^/]+\/(?:.*\+)?json$/.test(essence)) return 'json';
  if (/^[^/]+\/(?:.*\+)?xml$/.test(essence) || essence === 'text/html') return 'markup';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  return essence === 'text/plain' ? 'plain' : undefined;
}

/** Fills the body of one call. No value can break out of its place; `undefined` means that there is no body. */
export function fillBody(body: JsonValue, format: BodyFormat, input: JsonObject): string | undefined {
  if (format === 'json') {
    const filled = fillTree(body, input);
    return filled === undefined ? undefined : JSON.stringify(filled);
  }
  if (format === 'form') return fillForm(body, input);
  const present = parseTemplate(String(body)).filter(
    (part) => typeof part === 'string' || (valueAt(input, part) ?? null) !== null,
  );
  return fillText(present, input, format === 'markup' ? escapeMarkup : (text) => text);
}

function fillTree(tree: JsonValue, input: JsonObject): JsonValue | undefined {
  if (typeof tree === 'string') {
    const template = parseTemplate(tree);
    const whole = wholePlaceholder(template);
    return whole === undefined ? fillText(template, input, (text) => text) : valueAt(input, whole);
  }
  if (Array.isArray(tree)) {
    return tree.map((entry: JsonValue) => fillTree(entry, input)).filter((entry) => entry !== undefined);
  }
  if (!isJsonObject(tree)) return tree;
  const entries = Object.entries(tree).flatMap(([name, entry]): [string, JsonValue][] => {
    const filled = fillTree(entry, input);
    return filled === undefined ? [] : [[name, filled]];
  });
  return Object.fromEntries(entries);
}

function fillForm(body: JsonValue, input: JsonObject): string {
  if (typeof body === 'string') return fillPairs(body.split('&').map(parseTemplate), input).join('&');
  const fields = fillTree(body, input);
  return Object.entries(isJsonObject(fields) ? fields : {})
    .flatMap(([name, value]) =>
      [value].flat().map((entry) => {
        if (typeof entry === 'object') {
          throw new HttpError(
            'invalid-input',
            `The form field "${name}" must be a text, a number or true/false, or a list of them; nothing was sent.`,
          );
        }
        return `${percentEncode(name, [name])}=${percentEncode(String(entry), [name])}`;
      }),
    )
    .join('&');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}
