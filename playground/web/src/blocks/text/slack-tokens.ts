import { isKnownEmoji } from './emoji-names.ts';
import type { Inline } from './passages.ts';
import { isSafeUrl } from './resolve-link.ts';

/** Undoes Slack's three escapes; must run last, so that escaped text is never parsed as markup. */
export function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Parses the content between `<` and `>`: a mention, a link or a date; undefined when Slack shows it as text. */
export function readAngle(inside: string): Inline | undefined {
  const bar = inside.indexOf('|');
  const target = bar === -1 ? inside : inside.slice(0, bar);
  const label = bar === -1 ? undefined : unescapeText(inside.slice(bar + 1));
  const user = /^@([UW][A-Z0-9]+)$/.exec(target)?.[1];
  if (user !== undefined) return { kind: 'user', id: user };
  const channel = /^#([CDG][A-Z0-9]+)$/.exec(target)?.[1];
  if (channel !== undefined)
    return { kind: 'channel', id: channel, ...(label !== undefined && label !== '' && { name: label }) };
  const group = /^!subteam\^(S[A-Z0-9]+)$/.exec(target)?.[1];
  if (group !== undefined) return { kind: 'group', id: group };
  const range = /^!(here|channel|everyone)$/.exec(target)?.[1];
  if (range !== undefined) return { kind: 'broadcast', range };
  const date = /^!date\^(-?\d{1,12})\^([^^]+)(?:\^(.+))?$/.exec(target);
  if (date !== null) {
    const url = date[3] === undefined ? undefined : unescapeText(date[3]);
    return {
      kind: 'date',
      timestamp: Number(date[1]),
      format: unescapeText(date[2] ?? ''),
      fallback: label ?? '',
      ...(url !== undefined && isSafeUrl(url) && { url }),
    };
  }
  const url = unescapeText(target);
  if (!isSafeUrl(url)) return undefined;
  const shown = label === undefined || label === '' ? url.replace(/^mailto:/, '') : label;
  return { kind: 'link', url, content: [{ kind: 'text', text: shown }] };
}

/** Parses emoji names such as `:tada:`; an unknown name stays text. */
export function readEmoji(text: string): Inline[] {
  const pieces: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(/:([a-z0-9_+'-]{1,60})(?=:)/g)) {
    const name = match[1] ?? '';
    if (match.index < end || !isKnownEmoji(name)) continue;
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) });
    pieces.push({ kind: 'emoji', name });
    end = match.index + name.length + 2;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

const ADDRESS = /https?:\/\/[^\s<>|`]+/g;
const AFTER_ADDRESS = '.,;:!?)\'"*_~]';

/** Parses bare web addresses and emoji in a text, and undoes its escapes. */
export function readWords(text: string, isVerbatim = false): Inline[] {
  const pieces: Inline[] = [];
  let end = 0;
  const textUntil = (until: number) => readEmoji(unescapeText(text.slice(end, until)));
  for (const match of isVerbatim ? [] : text.matchAll(ADDRESS)) {
    const found = addressIn(match[0]);
    const url = unescapeText(found);
    if (!isSafeUrl(url)) continue;
    pieces.push(...textUntil(match.index), { kind: 'link', url, content: [{ kind: 'text', text: url }] });
    end = match.index + found.length;
  }
  return [...pieces, ...textUntil(text.length)];
}

/** Trims an escaped bracket or trailing punctuation from an address. */
function addressIn(found: string): string {
  const bracket = found.search(/&[lg]t;/);
  let end = bracket === -1 ? found.length : bracket;
  while (end > 0 && AFTER_ADDRESS.includes(found.charAt(end - 1)) && !found.endsWith('&amp;', end)) end -= 1;
  return found.slice(0, end);
}
