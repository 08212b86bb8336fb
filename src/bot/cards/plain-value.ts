import { isJsonObject, type JsonValue } from '../../agent/json.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';

const MAX_DEPTH = 6;

/** Writes a result or an answer for people: names in words, no brackets and no quotes. It is not exact, so nothing is approved by it. */
export function plainValue(value: JsonValue): string {
  return linesOf(value, 0).join('\n');
}

function linesOf(value: JsonValue, depth: number): string[] {
  if (typeof value !== 'object' || value === null) return [scalar(value)];
  const entries = Object.entries(value);
  if (entries.length === 0) return ['none'];
  if (depth >= MAX_DEPTH) return ['…'];
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    if (items.every((item) => typeof item !== 'object' || item === null))
      return [items.map(scalar).join(', ')];
  }
  return entries.flatMap(([name, entry]) => {
    const label = isJsonObject(value) ? readableName(name) : String(Number(name) + 1);
    const [first = '', ...rest] = linesOf(entry, depth + 1);
    const isShort =
      rest.length === 0 && (typeof entry !== 'object' || entry === null || Array.isArray(entry));
    return isShort ? [`${label}: ${first}`] : [`${label}:`, ...[first, ...rest].map((line) => `  ${line}`)];
  });
}

function scalar(value: JsonValue): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === '' ? 'empty' : String(value);
}
