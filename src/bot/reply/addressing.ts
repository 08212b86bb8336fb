import type { Message } from '../../agent/messages.ts';
import { askersIn, requestersOf } from '../requests/task-people.ts';
import { isSlackPerson } from '../slack/directory.ts';

/** More names would be a line of their own. */
const MAX_NAMED = 3;

/** Finds the people whom a reply addresses: its requesters, where several people have asked in the thread; nobody else needs it. */
export function addresseesIn(history: readonly Message[]): readonly string[] {
  if (askersIn(history).filter(isSlackPerson).length < 2) return [];
  return requestersOf(history).filter(isSlackPerson).slice(0, MAX_NAMED);
}

/** Writes the mentions at the beginning of a reply; a text that begins with Markdown gets a paragraph of its own. */
export function addressing(addressees: readonly string[], text: string): string {
  if (addressees.length === 0) return '';
  const mentions = addressees.map((id) => `<@${id}>`).join(' ');
  return /^[\p{L}\p{N}("']/u.test(text) && !/^\d+[.)]/.test(text) ? `${mentions} ` : `${mentions}\n\n`;
}
