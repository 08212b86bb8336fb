import { isDeeperThan, isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { limits } from '../../slack/limits.ts';
import { showJson } from './show-json.ts';
import { quoteText, showLine } from './show-text.ts';

/** A rendered value. If something is left out, `leftOut` says what, and the card cannot be approved. */
export interface RenderedValue {
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
  if (!isJsonObject(value) || names.length === 0) return fitAlone(showJson(value), room);
  const shown: string[] = [];
  let [characters, lines, omitted, omittedCharacters] = [0, 0, 0, 0];
  const take = (text: string): boolean => {
    const height = countLines(text);
    if (characters + text.length + 1 > room.characters || lines + height > room.lines) return false;
    characters += text.length + 1;
    lines += height;
    shown.push(text);
    return true;
  };
  for (const [name, argument] of Object.entries(value)) {
    const text = renderArgument(name, argument);
    if (take(text)) continue;
    omitted += 1;
    omittedCharacters += text.length;
    take(`${labelOf(name)}: ${notShown(text)}`);
  }
  const leftOut =
    omitted === 0
      ? undefined
      : `${count(omitted)} of ${plural(names.length, 'argument')} and ${plural(omittedCharacters, 'character')} not shown`;
  return { text: shown.length === 0 ? `(${leftOut})` : shown.join('\n'), leftOut };
}

function fitAlone(text: string, room: Room): RenderedValue {
  if (text.length <= room.characters && countLines(text) <= room.lines) return { text, leftOut: undefined };
  return { text: notShown(text), leftOut: `${plural(text.length, 'character')} not shown` };
}

function renderArgument(name: string, value: JsonValue): string {
  const label = labelOf(name);
  if (typeof value !== 'string' || !value.includes('\n')) return `${label}: ${showJson(value)}`;
  return [`${label}: |`, ...value.split('\n').map((each) => `  | ${showLine(each)}`)].join('\n');
}

function labelOf(name: string): string {
  return NAME.test(name) ? name : quoteText(name);
}

function notShown(text: string): string {
  return `(not shown: ${plural(text.length, 'character')})`;
}

function countLines(text: string): number {
  return text.split('\n').length;
}

/** Writes a number with its noun, in singular or plural. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
