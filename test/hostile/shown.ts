import { expect } from 'vitest';
import { type JsonValue, tryParseJson } from '../../src/agent/json.ts';
import { readJson } from '../../src/bot/views/cards/render-value.ts';
import { readLine, readRendered } from '../bot/views/cards/read-rendered.ts';
import { nodesIn, textsIn } from './oracle.ts';

/** Finds a text among the shown ones, as it is or with invisible characters spelled out. */
export function shownAs(
  text: string,
  blocks: unknown,
): 'shown as it is' | 'shown escaped' | 'cut, and said so' {
  const shown = textsIn(blocks).join('\n');
  const isThere = (line: string) => shown.includes(line) || shown.includes(line.replace(/["\\]/g, '\\$&'));
  if (text.trim().split('\n').every(isThere)) return 'shown as it is';
  const isCut = /not shown|Not everything is shown|…/.test(shown.replaceAll('(not shown: 4,200', ''));
  return isCut ? 'cut, and said so' : 'shown escaped';
}

/** The same for an argument on the card of an approval; what can be signed is read back, and is what was asked for. */
export function howShown(text: string, input: JsonValue, blocks: unknown): string {
  if (!nodesIn(blocks).some(({ action_id }) => action_id === 'approve')) return 'in the full view only';
  expect(valueIn(blocks)).toEqual(input);
  const boxes = boxesIn(blocks);
  return shownAs(text, boxes.length > 0 ? boxes : [...fieldsIn(blocks), ...quotesIn(blocks)]);
}

/** The value that a card shows, read back from its box or from its rows of a label and a value. */
export function valueIn(blocks: unknown): unknown {
  const [box] = textsIn(boxesIn(blocks));
  const titled = titledIn(blocks);
  if (box === undefined) return Object.fromEntries([...titled, ...rowsIn(blocks)]);
  const read = readRendered(box);
  return 'whole' in read ? read.whole : Object.fromEntries([...titled, ...read.shown]);
}

/** The values that the title of a call names, each behind its argument: a word, a number, or a text in quotes. */
function titledIn(blocks: unknown): [string, unknown][] {
  const [title = ''] = textsIn(nodesIn(blocks).filter(({ type }) => type === 'header'));
  const [, named = ''] = /^Keep note: (.*)\?$/s.exec(title) ?? [];
  return [...named.matchAll(/(?:^|, )(note|amount|data) ("(?:[^"\\]|\\.)*"|[^\s,]+)/g)].map(
    ([, name = '', value = '']) => [
      name,
      value.startsWith('"') ? readJson(value) : (tryParseJson(value) ?? readLine(value)),
    ],
  );
}

/** The arguments of the tool that is called. */
const ARGUMENTS = ['note', 'amount', 'data'];

/** The rows of a label and a value; the label of an argument is its name in words. */
function rowsIn(blocks: unknown): [string, unknown][] {
  const texts = textsIn(fieldsIn(blocks));
  const rows = texts.flatMap((text, index): [string, unknown][] => {
    const value = texts[index + 1] ?? '';
    return index % 2 === 0
      ? [[text.replaceAll('*', '').toLowerCase(), tryParseJson(value) ?? readLine(value)]]
      : [];
  });
  // A long value is quoted below its label.
  const quoted = quotesIn(blocks).map((block): [string, unknown] => {
    const [label = '', ...lines] = textsIn(block);
    return [label.trim().toLowerCase(), readLine(lines.join('\n'))];
  });
  return [...rows, ...quoted].filter(([label]) => ARGUMENTS.includes(label));
}

function fieldsIn(blocks: unknown) {
  return nodesIn(blocks).flatMap(({ fields }) => (Array.isArray(fields) ? fields : []));
}

export function boxesIn(blocks: unknown) {
  return nodesIn(blocks).filter(({ type }) => type === 'rich_text_preformatted');
}

/** The blocks that quote somebody, each with its label and with what it says of a cut. */
export function quotesIn(blocks: unknown) {
  return nodesIn(blocks).filter(({ type, elements }) => {
    return type === 'rich_text' && nodesIn(elements).some((node) => node.type === 'rich_text_quote');
  });
}

/** One outcome of several that each item has. */
export function pick<Key extends string>(
  outcomes: ReadonlyMap<string, Readonly<Record<Key, string>>>,
  key: Key,
): Map<string, string> {
  return new Map([...outcomes].map(([name, outcome]) => [name, outcome[key]]));
}
