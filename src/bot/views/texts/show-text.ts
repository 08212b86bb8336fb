/** Letters of other scripts that look like Latin ones. */
const LOOK_ALIKE =
  '[\\p{sc=Cyrillic}\\p{sc=Armenian}\\p{sc=Cherokee}\\p{sc=Coptic}\\p{sc=Lisu}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳαγεικνορτυχϲ]';

/** The traits of a character, each with its bit. */
const TRAITS = [
  // It is invisible, looks like a space, or changes the text direction.
  '[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}[\\p{Zs}--[\\x20]]\\u2800\\uFFFC\\u{1D159}]',
  // It is drawn over the character before it.
  '[\\p{M}--\\p{Default_Ignorable_Code_Point}]',
  // It may carry such marks.
  '[\\p{L}\\p{N}\\p{S}\\p{P}]',
  LOOK_ALIKE,
  '\\p{sc=Latin}',
  // It is part of a word or an address.
  '[\\p{L}\\p{M}\\p{N}_.@]',
  // An emoji can begin with it.
  '\\p{Emoji}',
].map((pattern) => new RegExp(pattern, 'v'));
const [HIDDEN, MARK, BASE, LOOKS_ALIKE, LATIN, WORD, EMOJI] = [1, 2, 4, 8, 16, 32, 64];
const KNOWN = 128;
const MOST_MARKS = 4;
const MOST_SPACES = 16;

const HARMLESS = /^(?:(?! {17})[\x20\x21\x23-\x5b\x5d-\x7e])*$/;
const BACKSLASH = 0x5c;
const SHORT: ReadonlyMap<number, string> = new Map([
  [0x22, '\\"'],
  [BACKSLASH, '\\\\'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x09, '\\t'],
]);

/** The traits of the characters met so far. A text of a megabyte is read character by character, so each is looked up once. */
let known: Uint8Array | undefined;

function traitsOf(code: number): number {
  known ??= new Uint8Array(0x11_0000);
  const found = known[code] ?? 0;
  if (found !== 0) return found;
  const character = String.fromCodePoint(code);
  const traits = TRAITS.reduce(
    (bits, trait, place) => (trait.test(character) ? bits | (1 << place) : bits),
    KNOWN,
  );
  known[code] = traits;
  return traits;
}

/**
 * Shows a text as one line with only visible characters; all others, also line breaks, become `\u{..}`. Different texts look different,
 * because a `\u{` of the text itself gets its backslash shown as `\u{5c}`.
 */
export function showLine(text: string): string {
  if (HARMLESS.test(text)) return text;
  return escapeHidden(text, (code, at) =>
    code === BACKSLASH && text.startsWith('u{', at + 1) ? codeOf(code) : undefined,
  );
}

/** Shows a text of several lines in the same way, and keeps its lines. */
export function showText(text: string): string {
  return text.split('\n').map(showLine).join('\n');
}

/** Writes a JSON string in which invisible characters become `\u{..}`, and line breaks `\n`. */
export function quoteText(text: string): string {
  if (HARMLESS.test(text)) return `"${text}"`;
  const inner = escapeHidden(text, (code) => SHORT.get(code));
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
export function characterStart(shown: string, at: number): number {
  const from = Math.max(0, at - LONGEST_CHARACTER);
  const found = graphemes.segment(shown.slice(from, at + LONGEST_CHARACTER)).containing(at - from);
  return found === undefined || found.index === 0 ? at : from + found.index;
}

/** Shows a label of at most `length` characters in one line; one that would look empty is quoted. */
export function showLabel(text: string, length: number): string {
  const start = startOf(text, length);
  return cut(start.trim() === '' ? quoteText(start) : showLine(start), length);
}

/** Returns the start of a text within some lines and characters, and the number of characters left out. */
export function excerpt(
  text: string,
  room: { readonly characters: number; readonly lines: number },
): { readonly text: string; readonly leftOut: number } {
  const read = startOf(text, room.characters);
  const shown = showText(read);
  const start = cut(shown.split('\n').slice(0, room.lines).join('\n'), room.characters);
  const kept = start.replace(/…$/, '').length;
  const leftOut = start === shown ? 0 : shown.length - kept + text.length - read.length;
  return { text: start.trim() === '' ? quoteText(start) : start, leftOut };
}

/** A text is read so far beyond the room for it, to the end of a word, so that what is shown of it looks as in the whole. */
const READ_BEYOND = 1_000;

/** Returns as much of a text as is read to show its start. What is shown is never shorter than the text, so the rest has no room. */
function startOf(text: string, room: number): string {
  return text.length <= room + 2 * READ_BEYOND
    ? text
    : text.slice(0, characterStart(text, room + READ_BEYOND));
}

/** Escapes a text for a field in which Slack parses markup. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const SPACE = 0x20;

/**
 * Writes out what cannot be seen, or looks like something else: hidden characters outside of emoji, the 17th space in a row, a mark
 * without a letter or beyond four, and a look-alike in a word with Latin letters. `special` writes what has a spelling of its own. It reads
 * a text once, however it is made up.
 */
function escapeHidden(text: string, special: (code: number, at: number) => string | undefined): string {
  let shown = '';
  let from = 0;
  let [spaces, marks, wordEnd, isMixed] = [0, Number.NaN, 0, false];
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const end = at + (code > 0xffff ? 2 : 1);
    const traits = traitsOf(code);
    const emojiEnd = (traits & EMOJI) === 0 ? at : endOfEmoji(text, at, end);
    if ((traits & WORD) !== 0 && at >= wordEnd) {
      const word = readWord(text, at);
      [wordEnd, isMixed] = [word.end, word.isMixed];
    }
    spaces = code === SPACE ? spaces + 1 : 0;
    if ((traits & MARK) !== 0) marks += 1;
    else marks = (traits & BASE) !== 0 ? 0 : Number.NaN;
    if (emojiEnd > end) {
      at = emojiEnd;
      marks = marksBefore(text, at);
      continue;
    }
    const own = code <= BACKSLASH ? special(code, at) : undefined;
    const spelled = own ?? (isUnclear(traits, spaces, marks, isMixed) ? codeOf(code) : undefined);
    if (spelled !== undefined) {
      if (from < at) shown += text.slice(from, at);
      shown += spelled;
      from = end;
    }
    at = end;
  }
  return shown + text.slice(from);
}

function isUnclear(traits: number, spaces: number, marks: number, isMixed: boolean): boolean {
  if ((traits & HIDDEN) !== 0 || spaces > MOST_SPACES) return true;
  // Without a letter before it the number of marks is none.
  if ((traits & MARK) !== 0 && !(marks <= MOST_MARKS)) return true;
  return (traits & LOOKS_ALIKE) !== 0 && (traits & WORD) !== 0 && isMixed;
}

/** Finds the end of a word, and whether it has look-alikes beside Latin letters. */
function readWord(text: string, start: number): { readonly end: number; readonly isMixed: boolean } {
  let [end, all] = [start, 0];
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    const traits = traitsOf(code);
    if ((traits & WORD) === 0) break;
    all |= traits;
    end += code > 0xffff ? 2 : 1;
  }
  return { end, isMixed: (all & LATIN) !== 0 && (all & LOOKS_ALIKE) !== 0 };
}

const WHOLE_EMOJI = '\\p{RGI_Emoji}';
/** Takes tens of milliseconds to make, and few texts need it. */
let wholeEmoji: RegExp | undefined;

/** Returns the end of an emoji that has joiners or selectors inside, which would be hidden anywhere else. */
function endOfEmoji(text: string, at: number, end: number): number {
  // Behind the first character comes a skin tone at most.
  if (!isOfEmoji(text.charCodeAt(end)) && !isOfEmoji(text.charCodeAt(end + 2))) return end;
  wholeEmoji ??= new RegExp(WHOLE_EMOJI, 'vy');
  wholeEmoji.lastIndex = at;
  return wholeEmoji.test(text) ? wholeEmoji.lastIndex : end;
}

/** A joiner, a selector, a keycap, or the first half of a tag. */
function isOfEmoji(unit: number): boolean {
  return unit === 0x200d || unit === 0xfe0f || unit === 0x20e3 || unit === 0xdb40;
}

/** Counts the marks at the end of an emoji: a keycap is one, behind a selector. */
function marksBefore(text: string, at: number): number {
  const code = text.codePointAt(at - 1) ?? 0;
  const isPair = code >= 0xdc00 && code <= 0xdfff;
  const traits = traitsOf(isPair ? (text.codePointAt(at - 2) ?? 0) : code);
  return (traits & BASE) !== 0 && (traits & MARK) === 0 ? 0 : Number.NaN;
}

const written = new Map<number, string>();

function codeOf(code: number): string {
  const found = written.get(code);
  if (found !== undefined) return found;
  const text = `\\u{${code.toString(16)}}`;
  // A text with every character there is must not be kept for ever.
  if (written.size < 1_000) written.set(code, text);
  return text;
}
