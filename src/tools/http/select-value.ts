import type { JsonValue } from '../../agent/json.ts';
import { valueAt } from './placeholders.ts';

/** Reads `/data/items/0` (JSON Pointer) or `data.items.0` as the names on the way. */
export function parseSelection(select: string): readonly string[] {
  if (select === '') return [];
  if (!select.startsWith('/')) return select.split('.');
  return select
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Finds what a selection points to, among own properties only; `undefined` is nothing there. */
export function selectValue(value: JsonValue, select: string): JsonValue | undefined {
  return valueAt(value, parseSelection(select));
}
