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

/** Writes JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
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
  Object.freeze(value);
  for (const entry of Object.values(value)) if (typeof entry === 'object') deepFreeze(entry);
  return value;
}
