import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { quoteText } from './show-text.ts';

const LINE = 80;

/** Writes a value as JSON with only visible characters; short values stay on one line. */
export function showJson(value: JsonValue): string {
  return linesOf(value).join('\n');
}

/** Parses the output of `showJson`, and any JSON; `\u{..}` is one more way to write a character. */
export function readJson(text: string): JsonValue {
  const plain = text.replace(/\\(?:u\{([0-9a-fA-F]{1,6})\}|[\s\S])/g, (whole, code?: string) => {
    if (code === undefined) return whole;
    return JSON.stringify(String.fromCodePoint(Number.parseInt(code, 16))).slice(1, -1);
  });
  return JSON.parse(plain);
}

function linesOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [quoteText(value)];
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const [open, close] = isJsonObject(value) ? ['{', '}'] : ['[', ']'];
  const items = isJsonObject(value)
    ? Object.entries(value).map(([key, entry]) => {
        const [first = '', ...rest] = linesOf(entry);
        return [`${quoteText(key)}: ${first}`, ...rest];
      })
    : value.map(linesOf);
  const length = items.reduce(
    (sum, lines) => sum + (lines.length === 1 ? (lines[0]?.length ?? 0) + 2 : Number.POSITIVE_INFINITY),
    0,
  );
  if (length <= LINE) return [`${open}${items.map(([only]) => only).join(', ')}${close}`];
  const inner = items.flatMap((lines, index) =>
    index === items.length - 1 ? lines : [...lines.slice(0, -1), `${lines.at(-1)},`],
  );
  return [open, ...inner.map((line) => `  ${line}`), close];
}
