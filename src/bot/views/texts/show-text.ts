const MARK = '[\\p{M}--\\p{Default_Ignorable_Code_Point}]';
const BASE = '[\\p{L}\\p{N}\\p{S}\\p{P}]';

/** Letters of other scripts that look like Latin ones. */
const LOOK_ALIKE =
  '[\\p{sc=Cyrillic}\\p{sc=Armenian}\\p{sc=Cherokee}\\p{sc=Coptic}\\p{sc=Lisu}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳαγεικνορτυχϲ]';
const isLookAlike = new RegExp(LOOK_ALIKE, 'v');
const lookAlikes = new RegExp(LOOK_ALIKE, 'gv');
/** A word or an address. */
const WORD = /[\p{L}\p{M}\p{N}_.@]+/gu;

/** Characters that are invisible, look like a space, change the text direction, overlap their neighbours, or look like a Latin letter. */
const HIDDEN = [
  '[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}[\\p{Zs}--[\\x20]]\\u2800\\uFFFC\\u{1D159}]',
  '\\x20(?<=\\x20{17})',
  `${MARK}(?<!${BASE}${MARK}{1,4})`,
  LOOK_ALIKE,
].join('|');

const IN_TEXT = `(${HIDDEN}|\\\\(?=u\\{))`;
const IN_QUOTES = `(["\\\\\\n\\r\\t]|${HIDDEN})`;
// An emoji may contain joiners and selectors, so whole emoji are skipped first. That is slow, so it is done only if the text has a
// character that occurs in nothing but emoji.
const OF_EMOJI = /[\u200D\uFE0F\u20E3\u{E0020}-\u{E007F}]/u;
const inText = finder(IN_TEXT);
const inQuotes = finder(IN_QUOTES);
const HARMLESS = /^(?:(?! {17})[\x20\x21\x23-\x5b\x5d-\x7e])*$/;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Shows a text as one line with only visible characters; all others, also line breaks, become `\u{..}`. Different texts look different,
 * because a `\u{` of the text itself gets its backslash shown as `\u{5c}`.
 */
export function showLine(text: string): string {
  if (HARMLESS.test(text)) return text;
  return escapeHidden(text, inText, codeOf);
}

/** Shows a text of several lines in the same way, and keeps its lines. */
export function showText(text: string): string {
  return text.split('\n').map(showLine).join('\n');
}

/** Writes a JSON string in which invisible characters become `\u{..}`, and line breaks `\n`. */
export function quoteText(text: string): string {
  if (HARMLESS.test(text)) return `"${text}"`;
  const inner = escapeHidden(text, inQuotes, (found) =>
    found === '"' || found === '\\' ? `\\${found}` : (SHORT[found] ?? codeOf(found)),
  );
  return `"${inner}"`;
}

/** Tells whether a text has characters that are shown as `\u{..}`. */
export function hasHidden(text: string): boolean {
  return showText(text) !== text;
}

/** Cuts a shown text, never within a character or an escape, and marks the cut. */
export function cut(shown: string, length: number): string {
  if (shown.length <= length) return shown;
  const kept = shown
    .slice(0, characterStart(shown, length - 1))
    .replace(/[\p{Cs}\p{Default_Ignorable_Code_Point}]+$/u, '')
    .replace(/\\(?:u(?:\{[0-9a-f]*)?)?$/, '');
  return `${kept}…`;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** The longest emoji or letter with its marks, as texts are shown. */
const LONGEST_CHARACTER = 64;

/** Returns where the visible character at an index begins, so that no part of an emoji is left over. */
function characterStart(shown: string, at: number): number {
  const from = Math.max(0, at - LONGEST_CHARACTER);
  const found = graphemes.segment(shown.slice(from, at + LONGEST_CHARACTER)).containing(at - from);
  return found === undefined || found.index === 0 ? at : from + found.index;
}

/** Shows a label of at most `length` characters in one line; one that would look empty is quoted. */
export function showLabel(text: string, length: number): string {
  return cut(text.trim() === '' ? quoteText(text) : showLine(text), length);
}

/** Returns the start of a text within some lines and characters, and the number of characters left out. */
export function excerpt(
  text: string,
  room: { readonly characters: number; readonly lines: number },
): { readonly text: string; readonly leftOut: number } {
  const shown = showText(text);
  const start = cut(shown.split('\n').slice(0, room.lines).join('\n'), room.characters);
  const leftOut = start === shown ? 0 : shown.length - start.replace(/…$/, '').length;
  return { text: start.trim() === '' ? quoteText(start) : start, leftOut };
}

/** Escapes a text for a field in which Slack parses markup. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Writes out what a pattern finds; a look-alike only where it stands in a word with Latin letters. */
function escapeHidden(
  text: string,
  find: (text: string) => RegExp,
  write: (found: string) => string,
): string {
  const mixed = new Set<number>();
  for (const { 0: word, index } of isLookAlike.test(text) ? text.matchAll(WORD) : [])
    if (/\p{sc=Latin}/u.test(word))
      for (const letter of word.matchAll(lookAlikes)) mixed.add(index + letter.index);
  return text.replace(find(text), (whole: string, found: string | undefined, at: number) =>
    found === undefined || (isLookAlike.test(found) && !mixed.has(at)) ? whole : write(found),
  );
}

function finder(what: string): (text: string) => RegExp {
  const alone = new RegExp(what, 'gv');
  // It takes tens of milliseconds to make, and few texts need it.
  let besideEmoji: RegExp | undefined;
  return (text) => {
    if (!OF_EMOJI.test(text)) return alone;
    besideEmoji ??= new RegExp(`\\p{RGI_Emoji}|${what}`, 'gv');
    return besideEmoji;
  };
}

function codeOf(hidden: string): string {
  return `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`;
}
