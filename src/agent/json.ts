export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Copies a value into plain JSON; a top-level value that JSON cannot hold (`undefined`, a function) becomes `null`. */
export function toJson(value: unknown): JsonValue {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}

/** Copies a value that is plain JSON already and keeps its type. */
export function copyJson<Value extends JsonValue>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}

/** Parses a text that may be malformed; `undefined` means that it is no JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value with fields that may be left out, as JSON itself leaves out a field that is `undefined`. */
export type PartialJson =
  | JsonValue
  | readonly PartialJson[]
  | { readonly [key: string]: PartialJson | undefined };

/** Writes JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: PartialJson): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const entry = value[key];
    if (entry !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(entry)}`);
  }
  return `{${fields.join(',')}}`;
}

function isList(value: PartialJson): value is readonly PartialJson[] {
  return Array.isArray(value);
}

/** Tells whether a value nests deeper than `limit`; it recurses no deeper than that. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((entry) => isDeeperThan(limit - 1, entry));
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Freezes a value with everything in it. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const entry of Object.values(value)) if (typeof entry === 'object') deepFreeze(entry);
  return Object.freeze(value);
}

/** Appends one segment to a JSON pointer. */
export function pointerTo(parent: string, segment: string | number): string {
  return `${parent}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Splits a JSON pointer into its segments; the root has none. */
export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Removes the last segment of a JSON pointer; the parent of the root is the root. */
export function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));
}

/** A number in a JSON text that parsing changes, with its path. */
interface LossyNumber {
  readonly path: string;
  readonly literal: string;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]/gs;

/**
 * Finds the first number of a valid JSON text that JavaScript cannot hold as written: one out of range, which would become `null`, or
 * one so large that its digits change. A small number with many decimals is only rounded and counts as exact.
 */
export function findLossyNumber(text: string): LossyNumber | undefined {
  const path: (string | number)[] = [];
  let latest = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const here = path.length - 1;
    const step = path[here];
    switch (token) {
      case '{':
      case '[':
        path.push(token === '[' ? 0 : '');
        break;
      case '}':
      case ']':
        path.pop();
        break;
      case ':':
        path[here] = latest.slice(1, -1);
        break;
      case ',':
        if (typeof step === 'number') path[here] = step + 1;
        break;
      default:
        if (!token.startsWith('"') && !isExact(token)) return { path: path.join('.'), literal: token };
        latest = token;
    }
  }
  return undefined;
}

function isExact(literal: string): boolean {
  const number = Number(literal);
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return true;
  // People approve the text of the number and the tool is sent that text, which can have fewer digits than the number.
  return Number.isFinite(number) && normalize(literal) === normalize(String(number));
}

/** Gives the same text for every way to write a number, ignoring its sign. */
function normalize(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`;
  const isZero = (index: number) => digits[index] === '0';
  let start = 0;
  while (isZero(start)) start += 1;
  let end = digits.length;
  while (isZero(end - 1)) end -= 1;
  return `${digits.slice(start, end)}e${Number(exponent) + digits.length - end - fraction.length}`;
}
