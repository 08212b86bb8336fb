import { expect } from 'vitest';
import type { JsonValue } from '../../src/agent/json.ts';
import { readRendered } from '../bot/views/cards/read-rendered.ts';
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
  return shownAs(text, boxesIn(blocks));
}

/** The value that a card shows, read back from what is shown. */
export function valueIn(blocks: unknown): unknown {
  const [box = ''] = textsIn(boxesIn(blocks));
  const read = readRendered(box);
  return 'whole' in read ? read.whole : Object.fromEntries(read.shown);
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
