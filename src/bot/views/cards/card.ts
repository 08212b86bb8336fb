import type {
  Button,
  ConfirmationDialog,
  ContextBlock,
  HeaderBlock,
  KnownBlock,
  MrkdwnElement,
  Overflow,
  PlainTextElement,
  RichTextBlock,
  RichTextElement,
  TableBlock,
} from '@slack/types';
import type { ShownFacets } from '../../../engine/facets/facets.ts';
import { callerNamed } from '../../../tools/callers.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { mention, plural, words } from '../texts/format.ts';
import { escapeMarkup, excerpt, showLabel, showLine } from '../texts/show-text.ts';
import { MORE } from './action-ids.ts';
import type { Room } from './render-value.ts';

/** A posted card: blocks, and text for notifications and screen readers. */
export interface Card {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

/** The place of a card. Its content comes from the record alone, never from the clock of the process that draws it. */
export interface CardOptions {
  readonly view: 'thread' | 'announcement' | 'direct';
  /** The link from a copy to the thread. */
  readonly threadLink?: string | undefined;
  /** The link from a copy to the request on the page beside Slack. */
  readonly pageLink?: string | undefined;
  /** Whether people decide on this card; `undefined` means that they do. */
  readonly hasButtons?: boolean | undefined;
  /** The part that facets show beside what the request keeps. */
  readonly shown?: ShownFacets | undefined;
}

/** Builds plain text, which has no formatting, mentions, links or emoji; untrusted text goes here. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** Builds a header from raw text; it makes the text visible and marks a cut. */
export function heading(text: string): HeaderBlock {
  return { type: 'header', text: plain(showLabel(text, limits.header)) };
}

/** Builds a line of typed elements, so that text cannot pose as a mention or a link. */
export function line(...elements: RichTextElement[]): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

/** Letters, digits and signs that mean nothing in Slack's markup. */
const TAME = /^[\p{L}\p{N}\p{M}\p{Sc}\p{Extended_Pictographic} .,;:!?'"’“”()/%+=·…→×#-]*$/u;
const SHORTCODE = /:[\w+'-]+:/;

/** Writes an element as markup; `undefined` for a text that markup could change, which is then shown as plain text. */
function markupOf(element: RichTextElement): string | undefined {
  switch (element.type) {
    case 'text': {
      const { text, style } = element;
      if (!TAME.test(text) || SHORTCODE.test(text)) return undefined;
      return style?.bold === true && text.trim() === text ? `*${text}*` : text;
    }
    case 'user':
      return `<@${element.user_id}>`;
    case 'usergroup':
      return `<!subteam^${element.usergroup_id}>`;
    case 'channel':
      return `<#${element.channel_id}>`;
    case 'date':
      return `<!date^${element.timestamp}^${element.format}|${escapeMarkup(element.fallback ?? '')}>`;
    default:
      return undefined;
  }
}

/**
 * Builds a small grey line of typed elements. Only ids, dates and tame words become markup; any other text stands beside it as plain text.
 * A line that has no room there is a usual one.
 */
export function context(...elements: RichTextElement[]): KnownBlock {
  const parts: ContextBlock['elements'] = [];
  for (const element of elements) {
    const markup = markupOf(element);
    const last = parts.at(-1);
    if (markup === undefined && element.type !== 'text') return line(...elements);
    if (markup === undefined && element.type === 'text') parts.push(plain(element.text.trim()));
    else if (last?.type === 'mrkdwn') last.text += markup;
    else parts.push(tameMarkup(markup ?? ''));
  }
  const shown = parts.filter((part) => part.type === 'image' || part.text.trim() !== '');
  const isShort = shown.every((part) => part.type === 'image' || part.text.length <= limits.contextText);
  if (shown.length === 0 || shown.length > limits.contextElements || !isShort) return line(...elements);
  return { type: 'context', elements: shown };
}

function tameMarkup(text: string): MrkdwnElement {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** A labelled value of a card. */
export interface Pair {
  readonly label: string;
  readonly value: string;
}

/** Builds rows of a bold label and a value beside it; on a phone the value stands below. A value is plain text, so nothing in it is live. */
export function pairRows(pairs: readonly Pair[]): KnownBlock[] {
  const rows = pairs.map(({ label, value }) => [labelElement(label), plain(value === '' ? '""' : value)]);
  const each = limits.sectionFields / 2;
  return Array.from({ length: Math.ceil(rows.length / each) }, (_, index) => ({
    type: 'section' as const,
    fields: rows.slice(index * each, (index + 1) * each).flat(),
  }));
}

function labelElement(label: string): MrkdwnElement | PlainTextElement {
  const shown = showLabel(label, limits.label);
  const markup = markupOf(words(shown, { bold: true }));
  return markup === undefined ? plain(shown) : tameMarkup(markup);
}

/** Quotes untrusted text with a label, and cuts it before it pushes the rest out of sight. */
export function quoted(label: string, text: string, room: Room = QUOTE): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_section', elements: [words(label, { bold: true })] },
      ...quoteParts(text, room),
    ],
  };
}

/** Builds a quote, and says how much of it is left out. */
export function quoteParts(text: string, room: Room = QUOTE): RichTextBlock['elements'] {
  const { text: start, leftOut } = excerpt(text, room);
  return [
    { type: 'rich_text_quote', elements: [words(start)] },
    ...(leftOut === 0
      ? []
      : [
          {
            type: 'rich_text_section' as const,
            elements: [words(`${plural(leftOut, 'more character')} not shown`)],
          },
        ]),
  ];
}
const QUOTE: Room = { characters: limits.quoteCharacters, lines: limits.quoteLines };

/** Builds preformatted text, which keeps every space and line. */
export function preformatted(text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** Writes the tables of a card as text, for a workspace that takes none; `undefined` for a card without one. */
export function withoutTables(card: Card): Card | undefined {
  if (card.blocks.every(({ type }) => type !== 'table')) return undefined;
  const blocks = card.blocks.map((block) => (block.type === 'table' ? asText(block) : block));
  return { ...card, blocks };
}

function asText({ rows }: TableBlock): RichTextBlock {
  const lines = rows.map((row) => row.map((cell) => (cell.type === 'raw_text' ? cell.text : '')));
  return preformatted(lines.map((cells) => cells.join('  ').trimEnd()).join('\n'));
}

/** Builds a list of mentions; beyond the limit, the rest is a number. */
export function mentions(
  ids: readonly string[],
  after?: (id: string) => RichTextElement[],
  last = ', ',
): RichTextElement[] {
  const named = [...new Set(ids)].slice(0, limits.mentions);
  const rest = new Set(ids).size - named.length;
  const elements = named.flatMap((id, index) => [
    ...(index === 0 ? [] : [words(index === named.length - 1 && rest === 0 ? last : ', ')]),
    mention(id),
    ...(after?.(id) ?? []),
  ]);
  if (elements.length === 0) return [words(cardTexts.nobody)];
  return rest === 0 ? elements : [...elements, words(` and ${rest} more`)];
}

/** Names the requesters; a caller stands before the owner for whom it asks. */
export function requesterNames(requesters: readonly string[]): RichTextElement[] {
  const callers = callersIn(requesters);
  if (callers.length === 0) return mentions(requesters);
  const names = showLabel(callers.join(', '), limits.label);
  const people = requesters.filter((id) => callerNamed(id) === undefined);
  return [words(names, { bold: true }), words(cardTexts.forOwner), ...mentions(people)];
}

/** Lists the callers among requesters, by name. */
export function callersIn(requesters: readonly string[]): readonly string[] {
  return requesters.flatMap((id) => callerNamed(id) ?? []);
}

/** Builds a button that carries the request's id and nothing else. */
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

/** Builds the menu for what is seldom needed, or none where nothing is; the block around it is named after the request. */
export function moreMenu(choices: readonly (readonly [actionId: string, label: string])[]): Overflow[] {
  const options = choices.map(([value, label]) => ({ text: plain(label), value }));
  return options.length === 0 ? [] : [{ type: 'overflow', action_id: MORE, options }];
}

/** Builds the links from a copy of the card to its thread and to the page. */
export function threadLine({ view, threadLink, pageLink }: CardOptions): KnownBlock[] {
  const [, ...links] = view === 'thread' ? [] : linkParts({ threadLink, pageLink });
  return links.length === 0 ? [] : [line(...links)];
}

/** Builds links to the thread and to the page, as far as there are any, each behind a separator. */
export function linkParts({
  threadLink,
  pageLink,
}: Pick<CardOptions, 'threadLink' | 'pageLink'>): RichTextElement[] {
  const link = (url: string | undefined, text: string): RichTextElement[] =>
    url === undefined || !/^https?:\/\//.test(url)
      ? []
      : [words(' · '), { type: 'link', url: showLine(url), text }];
  return [...link(threadLink, cardTexts.openThread), ...link(pageLink, cardTexts.openPage)];
}
