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
