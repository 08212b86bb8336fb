import type { RichTextElement } from '@slack/types';
import { actorKind } from '../../../engine/actors.ts';
import { callerNamed } from '../../../tools/callers.ts';
import { limits } from '../../slack/limits.ts';
import { showLabel } from './show-text.ts';

/** Writes a number with its noun, in singular or plural. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}

export function words(
  text: string,
  style?: { readonly bold?: boolean; readonly strike?: boolean },
): RichTextElement {
  return { type: 'text', text, ...(style !== undefined && { style }) };
}

/** Builds a sentence of ours in which what people type is in code letters; rich text would show its backticks. */
export function withCode(text: string): RichTextElement[] {
  return text
    .split('`')
    .map((part, index): RichTextElement => {
      return { type: 'text', text: part, ...(index % 2 === 1 && { style: { code: true } }) };
    })
    .filter((part) => part.type !== 'text' || part.text !== '');
}

/** The names of actors that are no people. */
export const OTHER_ACTOR = { tool: 'the tool', callback: 'an external system' } as const;

/** Builds a mention from an id; anything that is no Slack id stays text. */
export function mention(id: string): RichTextElement {
  const kind = actorKind(id);
  if (kind !== 'other') return words(OTHER_ACTOR[kind]);
  if (/^[UW][A-Z0-9]+$/.test(id)) return { type: 'user', user_id: id };
  if (/^S[A-Z0-9]+$/.test(id)) return { type: 'usergroup', usergroup_id: id };
  return words(showLabel(callerNamed(id) ?? id, limits.label));
}

/** Builds a date that Slack shows in each reader's time zone. */
export function moment(at: number, format = '{date_short_pretty} at {time}'): RichTextElement {
  const fallback = momentText(at);
  if (Number.isNaN(new Date(at).getTime())) return words(fallback);
  return { type: 'date', timestamp: Math.floor(at / 1000), format, fallback };
}

/** Builds a date with the time that is left; Slack keeps it current. */
export function deadline(at: number): RichTextElement {
  return moment(at, '{date_short_pretty} at {time} ({ago})');
}

/** Writes a time where Slack shows plain text only. */
export function momentText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'at no known time';
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
