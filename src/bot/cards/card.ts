import type { KnownBlock, PlainTextElement, RichTextBlock, RichTextElement } from '@slack/types';

/** What is posted: blocks for those who see them, text for those who do not. */
export interface Card {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

/** Plain text has no formatting, mention, link or emoji of its own: untrusted words go here. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** A line made of pieces that are each what they say they are. */
export function line(...elements: RichTextElement[]): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

export function words(text: string, style?: { readonly bold?: boolean }): RichTextElement {
  return { type: 'text', text, ...(style !== undefined && { style }) };
}

export function person(userId: string): RichTextElement {
  return { type: 'user', user_id: userId };
}
