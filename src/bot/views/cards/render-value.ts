import { isDeeperThan, isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { count, plural } from '../texts/format.ts';
import { quoteText, showLine } from '../texts/show-text.ts';

/** A rendered value. If something is left out, `leftOut` says what, and the card cannot be approved. */
interface RenderedValue {
  readonly text: string;
  readonly leftOut: string | undefined;
}

export interface Room {
  readonly characters: number;
  readonly lines: number;
}

const UNLIMITED: Room = { characters: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Renders a value so that it can be parsed back exactly. An object becomes lines of `name: JSON`; a name that is no plain word is
 * quoted; further lines of JSON are indented or start with a bracket. A text of several lines becomes `name: |` with each line after
 * a bar. `\u{..}` is one character. Any other value is JSON. An argument without room is marked in a way that no value can imitate,
 * or counted in `leftOut`; shown arguments are complete.
 */
export function renderValue(value: JsonValue, room: Room = UNLIMITED): RenderedValue {
  if (isDeeperThan(limits.depth, value)) {
    const leftOut = `Nested more than ${limits.depth} levels deep, so it cannot be shown`;
    return { text: `(${leftOut})`, leftOut };
  }
  const names = isJsonObject(value) ? Object.keys(value) : [];
  if (!isJsonObject(value) || names.length === 0) return fitAlone(value, room);
  const shown: string[] = [];
  let [characters, lines, omitted, marked, omittedCharacters] = [0, 0, 0, 0, 0];
  const take = (text: string): boolean => {
    const height = countLines(text);
    if (characters + text.length + 1 > room.characters || lines + height > room.lines) return false;
    characters += text.length + 1;
    lines += height;
    shown.push(text);
    return true;
  };
  let read = 0;
  for (const [name, argument] of Object.entries(value)) {
    const least = name.length + 2 + leastLength(argument);
    let size = least;
    if (least <= room.characters - characters && read <= MOST_READ * room.characters) {
      read += least;
      const text = renderArgument(name, argument);
      if (take(text)) continue;
      size = text.length;
    }
    omitted += 1;
    omittedCharacters += size;
    const isShort = name.length <= room.characters - characters;
    if (isShort && take(`${labelOf(name)}: ${notShown(size)}`)) marked += 1;
  }
  // The marks say how many characters they stand for.
  const unsaid = omitted === marked ? '' : ` and ${plural(omittedCharacters, 'character')}`;
  const leftOut =
    omitted === 0 ? undefined : `${count(omitted)} of ${plural(names.length, 'argument')}${unsaid} not shown`;
  return { text: shown.length === 0 ? `(${leftOut})` : shown.join('\n'), leftOut };
}

/** Arguments are read up to so many times the room for them, so that a card costs the same however long they are. */
const MOST_READ = 8;

/** Returns a length that the rendered value has at least: nothing is shown shorter than it is. */
function leastLength(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  const parts = isJsonObject(value)
    ? Object.entries(value).map(([name, part]) => name.length + leastLength(part))
    : value.map(leastLength);
  return parts.reduce((sum, part) => sum + part, 0);
}

function fitAlone(value: JsonValue, room: Room): RenderedValue {
  const least = leastLength(value);
  const text = least <= room.characters ? showJson(value) : undefined;
  if (text !== undefined && text.length <= room.characters && countLines(text) <= room.lines)
    return { text, leftOut: undefined };
  const size = text?.length ?? least;
  return { text: notShown(size), leftOut: `${plural(size, 'character')} not shown` };
}

function renderArgument(name: string, value: JsonValue): string {
  const label = labelOf(name);
  if (typeof value !== 'string' || !value.includes('\n')) return `${label}: ${showJson(value)}`;
  return [`${label}: |`, ...value.split('\n').map((each) => `  | ${showLine(each)}`)].join('\n');
}

function labelOf(name: string): string {
  return NAME.test(name) ? name : quoteText(name);
}

function notShown(size: number): string {
  return `(not shown: ${plural(size, 'character')})`;
}

function countLines(text: string): number {
  return text.split('\n').length;
}

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

const LINE = 80;

/** Writes a value as JSON with only visible characters; short values stay on one line. */
export function showJson(value: JsonValue): string {
  return jsonLines(value).join('\n');
}

/** Parses the output of `showJson`, and any JSON; `\u{..}` is one more way to write a character. */
export function readJson(text: string): JsonValue {
  const plain = text.replace(/\\(?:u\{([0-9a-fA-F]{1,6})\}|[\s\S])/g, (whole, code?: string) => {
    if (code === undefined) return whole;
    return JSON.stringify(String.fromCodePoint(Number.parseInt(code, 16))).slice(1, -1);
  });
  return JSON.parse(plain);
}

function jsonLines(value: JsonValue): string[] {
  if (typeof value === 'string') return [quoteText(value)];
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const [open, close] = isJsonObject(value) ? ['{', '}'] : ['[', ']'];
  const items = isJsonObject(value)
    ? Object.entries(value).map(([key, entry]) => {
        const [first = '', ...rest] = jsonLines(entry);
        return [`${quoteText(key)}: ${first}`, ...rest];
      })
    : value.map(jsonLines);
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
