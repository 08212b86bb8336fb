export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Copies a value into plain JSON; what JSON has no word for at the top (`undefined`, a function) becomes `null`. */
export function toJson(value: unknown): JsonValue {
  const copy = copyPlain(value, 0);
  if (copy !== undefined) return copy;
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}

/** Reads JSON; `undefined` says that it is none. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const DEEPEST_COPY = 32;

/** Copies what is plain JSON already, many times faster than by its text; `undefined` says that it is anything else. */
function copyPlain(value: unknown, depth: number): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  // The text of -0 is 0, and there is none for what is no number.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  if (typeof value !== 'object' || depth > DEEPEST_COPY || 'toJSON' in value) return undefined;
  if (Array.isArray(value)) {
    const copies: JsonValue[] = [];
    for (const entry of value) {
      const copy = copyPlain(entry, depth + 1);
      if (copy === undefined) return undefined;
      copies.push(copy);
    }
    return copies;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const copies: Record<string, JsonValue> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const copy = key === '__proto__' ? undefined : copyPlain(entry, depth + 1);
    if (copy === undefined) return undefined;
    copies[key] = copy;
  }
  return copies;
}

const PLAIN_KEY = /^[\w-]*$/;

/** Writes JSON with sorted keys, so that equal values give equal text whatever order their keys came in. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const entry = value[key];
    text += `${text === '' ? '' : ','}${PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key)}:${entry === undefined ? undefined : canonicalJson(entry)}`;
  }
  return `{${text}}`;
}

/** Tells whether a value nests deeper than `limit`, without itself going deeper than that. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((entry) => isDeeperThan(limit - 1, entry));
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
