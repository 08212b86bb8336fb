import type {
  Button,
  ConfirmationDialog,
  HeaderBlock,
  KnownBlock,
  PlainTextElement,
  RichTextBlock,
  RichTextElement,
} from '@slack/types';
import { limits } from '../slack/limits.ts';
import { plural, type Room } from './render-value.ts';
import { excerpt, showLabel, showLine } from './show-text.ts';

/** What is posted: blocks for those who see them, text for those who do not. */
export interface Card {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

/** Where a card stands; the record alone says what is on it, and no clock of the process that draws it. */
export interface CardOptions {
  readonly view: 'thread' | 'announcement' | 'direct';
  /** Leads from a copy to the thread. */
  readonly threadLink?: string | undefined;
  readonly tool?: { readonly description: string } | undefined;
}

/** Plain text has no formatting, mention, link or emoji of its own: untrusted words go here. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

export function heading(text: string): HeaderBlock {
  return { type: 'header', text: plain(showLabel(text, limits.header)) };
}

/** A line made of pieces that are each what they say they are. */
export function line(...elements: RichTextElement[]): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

export function words(text: string, style?: { readonly bold?: boolean }): RichTextElement {
  return { type: 'text', text, ...(style !== undefined && { style }) };
}

/** Somebody else's words: labelled as such, set apart, and cut where they would push the rest out of sight. */
export function quoted(label: string, text: string, room: Room = QUOTE): RichTextBlock {
  const { text: start, leftOut } = excerpt(text, room);
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_section', elements: [words(label, { bold: true })] },
      { type: 'rich_text_quote', elements: [words(start)] },
      ...(leftOut === 0
        ? []
        : [
            {
              type: 'rich_text_section' as const,
              elements: [words(`${plural(leftOut, 'more character')} not shown`)],
            },
          ]),
    ],
  };
}
const QUOTE: Room = { characters: limits.quoteCharacters, lines: limits.quoteLines };

/** Text in which every space and every line stands as it is. */
export function preformatted(text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** A live mention, made from an id alone; what is no id of Slack's stays text. */
export function mention(id: string): RichTextElement {
  if (/^[UW][A-Z0-9]+$/.test(id)) return { type: 'user', user_id: id };
  if (/^S[A-Z0-9]+$/.test(id)) return { type: 'usergroup', usergroup_id: id };
  return words(showLabel(id, limits.label));
}

/** Mentions with commas between them; of very many, the rest is a number. */
export function mentions(
  ids: readonly string[],
  after?: (id: string) => RichTextElement[],
): RichTextElement[] {
  const named = [...new Set(ids)].slice(0, limits.mentions);
  const rest = new Set(ids).size - named.length;
  const elements = named.flatMap((id, index) => [
    ...(index === 0 ? [] : [words(', ')]),
    mention(id),
    ...(after?.(id) ?? []),
  ]);
  if (elements.length === 0) return [words('nobody')];
  return rest === 0 ? elements : [...elements, words(` and ${rest} more`)];
}

/** A moment as each reader's own clock has it. */
export function moment(at: number): RichTextElement {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return words('at no known time');
  const fallback = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    type: 'date',
    timestamp: Math.floor(at / 1000),
    format: '{date_short_pretty} at {time}',
    fallback,
  };
}

/** A button that carries the request's id and nothing else. */
export function button(
  requestId: string,
  actionId: string,
  label: string,
  extra: { readonly style?: 'primary' | 'danger'; readonly confirm?: ConfirmationDialog } = {},
): Button {
  return {
    type: 'button',
    action_id: actionId,
    value: requestId,
    text: plain(showLabel(label, limits.buttonText)),
    ...extra,
  };
}

/** The way from a copy of the card to the thread it belongs to. */
export function threadLine({ view, threadLink }: CardOptions): KnownBlock[] {
  if (view === 'thread' || threadLink === undefined || !/^https?:\/\//.test(threadLink)) return [];
  return [line({ type: 'link', url: showLine(threadLink), text: 'Open the thread' })];
}
