import type { JsonValue } from '../../../../src/agent/json.ts';
import { readJson } from '../../../../src/bot/views/cards/render-value.ts';

const ENTRY = /^([A-Za-z_][A-Za-z0-9_]*|"(?:[^"\\]|\\.)*"): ([\s\S]*)$/;
const NOT_SHOWN = /^\(not shown: [\d,]+ characters?\)$/;

/** Reads back what `renderValue` wrote, as its comment says; what is marked as not shown is `undefined`. */
export function readRendered(
  text: string,
): { whole: JsonValue } | { shown: Map<string, JsonValue | undefined> } {
  // No value and no name begins with a round bracket, so this is the renderer speaking.
  if (text.startsWith('(')) return { shown: new Map() };
  try {
    return { whole: readJson(text) };
  } catch {
    return { shown: new Map(entriesOf(text).map(readEntry)) };
  }
}

function entriesOf(text: string): string[] {
  const entries: string[] = [];
  for (const line of text.split('\n')) {
    if (/^[\s}\]]/.test(line) && entries.length > 0) entries.push(`${entries.pop()}\n${line}`);
    else entries.push(line);
  }
  return entries;
}

function readEntry(entry: string): [string, JsonValue | undefined] {
  const [, label = '', body = ''] = ENTRY.exec(entry) ?? [];
  const name = label.startsWith('"') ? String(readJson(label)) : label;
  if (NOT_SHOWN.test(body)) return [name, undefined];
  if (!body.startsWith('|\n')) return [name, readJson(body)];
  const lines = body.split('\n').slice(1);
  return [name, lines.map((line) => readLine(line.slice('  | '.length))).join('\n')];
}

/** Reads a line back: invisible characters are written as escapes. */
export function readLine(line: string): string {
  return line.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
}
