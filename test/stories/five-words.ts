import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** The questions that an approver has in the first five seconds. */
export const QUESTIONS = [
  'what',
  'to what',
  'how much',
  'who asked',
  'why approval',
  'who may',
  'until when',
  'if rejected',
] as const;
export type Answers = Readonly<Partial<Record<(typeof QUESTIONS)[number], RegExp>>>;

/** Writes blocks as a person sees them without a click: a menu, a confirmation and what a button carries are not seen. */
function seen(value: unknown): string {
  if (Array.isArray(value)) return value.map(seen).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  const { type, text, user_id, usergroup_id, channel_id, fallback, elements, fields, accessory, rows } =
    Object.fromEntries<unknown>(Object.entries(value));
  if (type === 'overflow') return '';
  if (type === 'user') return `@${user_id}`;
  if (type === 'usergroup') return `@${usergroup_id}`;
  if (type === 'channel') return `#${channel_id}`;
  if (type === 'date') return `[${fallback}]`;
  const own = typeof text === 'string' ? text : seen(text);
  return [own, ...[fields, elements, accessory, rows].map(seen)].filter((each) => each !== '').join(' ');
}

/** A date in Slack's markup, which people read in their own time. */
const DATE = /<!date\^\d+\^\{date_short_pretty\} at \{time\}\|[^>]+>/g;

/** What a person reads in five seconds. */
const FEW_WORDS = 40;

/** Lists words in reading order; a sign between them is none. */
export function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/**
 * Expects each answer within the first words of a card, and the card in the table of the docs. Returns the words of the answers
 * themselves.
 */
export function expectAnswers(card: string, blocks: readonly unknown[], answers: Answers): readonly string[] {
  const text = blocks.map(seen).join('\n').replaceAll(DATE, 'Today at 4:24 PM').replaceAll(/ +/g, ' ');
  const start = firstWords(text, FEW_WORDS);
  const given = QUESTIONS.filter((question) => answers[question]?.test(start));
  expect(given, start).toEqual(QUESTIONS.filter((question) => answers[question] !== undefined));
  const docs = readFileSync(new URL('../../docs/cards.md', import.meta.url), 'utf8');
  const [, listed = ''] = new RegExp(`^\\| (\\d) \\| [^|]*\\b${card}\\b`, 'm').exec(docs) ?? [];
  expect(listed, `${card} in docs/cards.md`).not.toBe('');
  return QUESTIONS.map((question) => answers[question]?.exec(start)?.[0] ?? '');
}

function firstWords(text: string, most: number): string {
  let left = most;
  const parts = text.split(/(\s+)/);
  const end = parts.findIndex((part) => wordsIn(part).length > 0 && left-- === 0);
  return parts.slice(0, end === -1 ? parts.length : end).join('');
}
