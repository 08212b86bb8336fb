import type { JsonValue } from '../agent/json.ts';

/** Tells whether a value holds a number beyond all bounds: it would pass for a number and be kept as `null`. */
export function hasEndlessNumber(value: JsonValue): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasEndlessNumber);
  return typeof value === 'number' && !Number.isFinite(value);
}
