import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';

/** The format of a field that is a table. */
export const TABLE = 'table';

const MAX_COLUMNS = 8;
const MAX_CELL = 80;
/** A longer run of blanks is written out where texts are shown. */
const MAX_BLANKS = 12;
const MISSING = '–';
const SEPARATOR = ' | ';
const NAME = /^[A-Za-z_][\w-]*$/;
/** Words with single blanks between them that look like no other kind of cell. */
const PLAIN = /^(?!(?:true|false|null|–)$)(?!-?[\d.])[^\s"[{|][^\s|]*(?: [^\s|]+)*$/u;

/**
 * Writes a list of objects as lines with a column for each name; `undefined` if it is none, or too wide. It can be read back exactly: a
 * text that could be taken for something else is quoted, and what an object lacks is a dash.
 */
export function tableText(value: JsonValue): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly JsonValue[] = value;
  const rows = items.filter(isJsonObject);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length !== items.length || names.length === 0 || names.length > MAX_COLUMNS) return undefined;
  const lines = [names.map(nameText), ...rows.map((row) => names.map((name) => cellText(row, name)))];
  if (lines.some((cells) => cells.some(({ length }) => length > MAX_CELL))) return undefined;
  const widths = names.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) => writeLine(cells, widths)).join('\n');
}

function writeLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) =>
    cell.padEnd(Math.min(widths[column] ?? 0, cell.length + MAX_BLANKS)),
  );
  return padded.join(SEPARATOR).trimEnd();
}

function nameText(name: string): string {
  return NAME.test(name) ? name : JSON.stringify(name);
}

function cellText(row: JsonObject, name: string): string {
  const value = Object.hasOwn(row, name) ? row[name] : undefined;
  if (value === undefined) return MISSING;
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}
