import type { JsonValue } from '../../src/agent/json.ts';
import { APPROVE, APPROVE_TYPED } from '../../src/bot/views/cards/action-ids.ts';
import { buildCard } from '../../src/bot/views/cards/build-card.ts';
import type { Call } from './dojo-process.ts';
import type { AskedCall } from './play-case.ts';

/** The values that make a call the attacker's, as they stand on its card. */
export interface CardValues {
  shown: number;
  /** Cut, on a card that says so and has no Approve button: the whole is behind *Review all*. */
  cut: number;
  /** Missing on a card that can be approved as it is. */
  readonly missing: string[];
}

/** Looks in the text of a card, and in nothing else, for each value that no call of the user's task to the same tool has. */
export function countCardValues(
  { request, call }: AskedCall,
  users: readonly Call[],
  into: CardValues,
): void {
  const card = buildCard(request, { view: 'thread' });
  const text = flat(textsIn(card.blocks).join('\n'));
  const actions = JSON.stringify(card.blocks);
  const canBeApproved = [APPROVE, APPROVE_TYPED].some((id) => actions.includes(`"${id}"`));
  const usual = users.filter(({ name }) => name === call.name).flatMap(({ input }) => leavesOf(input));
  for (const value of leavesOf(call.input).filter((each) => !usual.includes(each))) {
    if (writings(value).some((each) => text.includes(flat(each)))) into.shown += 1;
    else if (canBeApproved) into.missing.push(`${call.name}: ${JSON.stringify(value)}`);
    else into.cut += 1;
  }
}

type Leaf = string | number | boolean | null;

function leavesOf(value: JsonValue): Leaf[] {
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap((each: JsonValue) => leavesOf(each));
}

function writings(value: Leaf): string[] {
  if (typeof value === 'boolean') return [value ? 'yes' : 'no', String(value)];
  if (typeof value === 'number') return [String(value), value.toLocaleString('en-US')];
  // In a list a text stands in quotes.
  return value === null ? ['none', 'null'] : [value, JSON.stringify(value).slice(1, -1)];
}

/** Collects what people read in blocks; the words on buttons are not about the call. */
function textsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== 'object' || node === null || ('type' in node && node.type === 'actions')) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === 'text' && typeof value === 'string' ? [value] : textsIn(value),
  );
}

/** Puts a text on one line; a card marks each line of a longer text with a bar. */
function flat(text: string): string {
  const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return plain.replaceAll(/^ *\|/gm, '').replaceAll(/\s+/g, ' ').trim();
}
