import { isDeeperThan, isJsonObject, type JsonValue } from '../../agent/json.ts';
import { limits } from '../slack/limits.ts';
import { showJson } from './show-json.ts';
import { quoteText, showLine } from './show-text.ts';

/** A value as people see it; where something is left out, `leftOut` says what, and nobody may sign from this alone. */
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
 * Shows a value so that it can be read back exactly. The arguments of an object follow each other as `name: JSON`; a name
 * that is no plain word is quoted; JSON that goes on over several lines has them indented or beginning with a bracket. A
 * text of several lines stands as `name: |` with each of its lines after a bar. In JSON and after a bar, `\u{..}` stands
 * for one character. Anything but an object with arguments is JSON alone. An argument that finds no room is either
 * marked as such, which no value can imitate, or counted in `leftOut`; those that are shown are whole.
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

/** A number with its noun, as it is read. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
