import { isObject, stringOf } from '../json.ts';
import { emojiOf } from './emoji-names.ts';
import { parseMrkdwn } from './parse-mrkdwn.ts';
import { type Inline, type Passage, plainInlines } from './passages.ts';
import { readEmoji } from './slack-tokens.ts';

/** Parses a text object; `plain_text` is parsed only for emoji, and only when it asks for them. */
export function readTextObject(text: unknown): Passage[] {
  if (!isObject(text)) return [];
  if (text.type === 'mrkdwn') return parseMrkdwn(stringOf(text.text), { isVerbatim: text.verbatim === true });
  return [{ kind: 'paragraph', content: readPlainText(text) }];
}

/** Parses a `plain_text` object. */
export function readPlainText(text: unknown): Inline[] {
  if (!isObject(text)) return [];
  const lines = plainInlines(stringOf(text.text));
  if (text.emoji !== true) return lines;
  return lines.flatMap((piece) => (piece.kind === 'text' ? readEmoji(piece.text) : [piece]));
}

/** Returns a `plain_text` object as a string, for places that cannot hold elements, such as menu options. */
export function plainString(text: unknown): string {
  return readPlainText(text)
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      return piece.kind === 'emoji' ? (emojiOf(piece.name) ?? `:${piece.name}:`) : ' ';
    })
    .join('');
}
