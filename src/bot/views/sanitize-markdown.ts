/** Stands for a backtick that begins no code. A real one could pair with another, and Slack would see other code than we did. */
const LONE_BACKTICK = '\u02CB';

/**
 * Sanitizes the model's Markdown. It keeps its formatting, but cannot mention anybody, hide the target of a link, hide or reverse
 * text, or use Slack's own markup, which always starts with `<`. Code stays as it is: it is written so that every reader of Markdown
 * sees the same code as we do, and a block that is not closed is closed at the end. With `until`, only what stands for the text's
 * first characters is returned, and nothing is closed.
 */
export function sanitizeMarkdown(text: string, until?: number): string {
  const lines = text.split('\n');
  const end = until ?? text.length;
  let shown = '';
  let fence: Fence | undefined;
  let start = 0;
  for (const [index, whole] of lines.entries()) {
    if (start > end || (start === end && index > 0 && until !== undefined)) break;
    const line = whole.slice(0, end - start).replace(/\r$/, '');
    const inside = fence && fencedLine(fence, line);
    if (fence !== undefined && inside?.kind === 'code') shown += `${quote(fence)}${escapeCode(inside.code)}`;
    else if (fence !== undefined && inside?.kind === 'closed') {
      shown += `${quote(fence)}${fence.marker}`;
      fence = undefined;
    } else {
      if (fence !== undefined) shown += `${quote(fence)}${fence.marker}\n`;
      const opened = openedFence(line);
      fence = opened?.fence;
      if (opened === undefined) shown += sanitizeLine(line, isTableLine(lines, index));
      else shown += `${opened.before.trimEnd()}${opened.before === '' ? '' : '\n'}${fenceLine(opened.fence)}`;
    }
    start += whole.length + 1;
    if (index < lines.length - 1 && start <= end) shown += '\n';
  }
  if (fence === undefined || until !== undefined) return shown;
  return `${shown}${shown.endsWith('\n') ? '' : '\n'}${quote(fence)}${fence.marker}`;
}

/**
 * Returns how much of a growing text can be sanitized already: whatever follows, it stays the beginning of the whole. An unclosed link or
 * code span has to wait, and so has a line that may become the start or the end of a code block, or part of a table.
 */
export function sanitizableLength(text: string): number {
  const lineStart = text.lastIndexOf('\n') + 1;
  const line = text.slice(lineStart);
  const before = text.slice(0, lineStart);
  if (openFenceIn(before) !== undefined) return lineStart;
  const table = tableStart(before);
  if (table !== undefined) return table;
  const waiting = lastLineThatWaits(before);
  if (waiting !== undefined) return waiting;
  if (/^[\s>\d.)*+-]*[`~]/.test(line) || line.includes('|') || /^[\s>:\d.)*+-]*$/.test(line))
    return lineStart;
  const lastWord = line.search(/\S*$/);
  let settled = 0;
  for (const { isCode, text: piece } of inlinePieces(line, false)) {
    const end = settled + piece.length;
    const stop = isCode ? -1 : piece.search(/!?\[|\\?`/);
    if (stop !== -1) return lineStart + Math.min(settled + stop, lastWord);
    // A closing run at the very end may still grow, which leaves its opening run alone; and a span is not cut.
    if (isCode && (end === line.length || end > lastWord))
      return lineStart + Math.min(line.charAt(settled - 1) === '\\' ? settled - 1 : settled, lastWord);
    settled = end;
  }
  return lineStart + lastWord;
}

/** Returns the code block that is open at the end of a text. */
export function openFenceIn(text: string): Fence | undefined {
  let fence: Fence | undefined;
  for (const line of text.replace(/\n$/, '').split(/\r?\n/)) {
    const inside = fence && fencedLine(fence, line);
    if (inside?.kind === 'code') continue;
    fence = inside?.kind === 'closed' ? undefined : openedFence(line)?.fence;
  }
  return fence;
}

/** Closes a code block that is open at the end of a text, so that other text can follow. */
export function closeFence(text: string): string {
  const fence = openFenceIn(text);
  if (fence === undefined) return text;
  return `${text}${text.endsWith('\n') ? '' : '\n'}${fenceLines(fence).close}`;
}

/** Returns the lines that close a code block, and that open it again in another message. */
export function fenceLines(fence: Fence): { readonly close: string; readonly open: string } {
  const { marker, info, indent } = fence;
  // The lines of the block keep their indentation, and it is read from the opening line.
  return {
    close: `${quote(fence)}${marker}`,
    open: `${quote(fence)}${' '.repeat(indent)}${marker}${info}`,
  };
}

/** Returns where the lines begin that are the end of a growing text and may be a table, which its next lines tell. */
function tableStart(complete: string): number | undefined {
  const lines = complete.replace(/\n$/, '').split('\n');
  let at = lines.length;
  while (at > 0 && lines[at - 1]?.includes('|') === true) at -= 1;
  return at === lines.length ? undefined : lines.slice(0, at).join('\n').length + (at === 0 ? 0 : 1);
}

/** Finds a last line that would be another one as a row of a table, which only the next line tells. */
function lastLineThatWaits(complete: string): number | undefined {
  const start = complete.lastIndexOf('\n', complete.length - 2) + 1;
  const line = complete.slice(start, -1);
  return sanitizeLine(line, true) === sanitizeLine(line, false) ? undefined : start;
}

function sanitizeLine(line: string, isTable: boolean): string {
  const bold = new BoldEdges();
  return inlinePieces(line, isTable)
    .map(({ isCode, text }) => (isCode ? escapeCode(text) : sanitizeProse(bold.freed(text))))
    .join('');
}

/** Punctuation that may change its side of a `**`: none that begins or ends something in Markdown. */
const MOVABLE = '[[\\p{P}--[\\x00-\\x7F]]:.,?!\\(\\)"%]';
const BOLD_MARK = new RegExp(
  `(?<=[^\\s\\p{P}*])(${MOVABLE}+)\\*\\*(?=[\\p{L}\\p{N}])|(?<=[\\p{L}\\p{N}])\\*\\*(${MOVABLE}+)(?=[^\\s\\p{P}*])|\\*\\*`,
  'gv',
);

/**
 * Moves punctuation out of bold text where a letter follows or comes before, as in Chinese, Japanese and Korean: Markdown ends no bold
 * between punctuation and a letter, and would show the asterisks. Which `**` of a line begins and which ends is counted from its start.
 */
class BoldEdges {
  #isInside = false;

  freed(text: string): string {
    if (!text.includes('**')) return text;
    return text.replace(BOLD_MARK, (whole, before?: string, after?: string) => {
      const wasInside = this.#isInside;
      this.#isInside = !wasInside;
      if (before !== undefined) return wasInside ? `**${before}` : whole;
      return after !== undefined && !wasInside ? `${after}**` : whole;
    });
  }
}

function sanitizeProse(text: string): string {
  return (
    escapeProse(text)
      .replace(/\\?`/g, LONE_BACKTICK)
      .replace(/!?\[([^\]\n]*)\]\(\s*([^)\s]+)[^)\n]*\)/g, (_whole, label: string, target: string) =>
        label.trim() === '' || label === target ? target : `${label} (${target})`,
      )
      // Any other link, or definition of a link target, has a bracket right before one of these.
      .replace(/\](?=[(:])/g, '] ')
  );
}

/** Something that Slack would read as one character. It does so in texts, and not where a link leads. */
const ENTITY = /&(?=(?:[a-z][a-z\d]*|#\d+|#x[\da-f]+);)/gi;
const ADDRESS = /((?:https?:\/\/|mailto:)[^\s<>]*)/i;

/** Escapes prose. An address stays as it is, so that it leads where it says. */
function escapeProse(text: string): string {
  return escapeInvisible(text)
    .split(ADDRESS)
    .map((part, index) => (index % 2 === 1 ? part : escapeEntities(part)))
    .join('');
}

function escapeCode(text: string): string {
  return escapeEntities(escapeInvisible(text));
}

function escapeEntities(text: string): string {
  return text.replace(ENTITY, '&amp;').replaceAll('<', '&lt;');
}

/** Slack shows the name of a language as the first line of the code, so it is left out. */
function fenceLine({ marker, quotes }: Fence): string {
  return `${'> '.repeat(quotes)}${marker}`;
}

function quote({ quotes }: Fence): string {
  return '> '.repeat(quotes);
}

/** Scripts in which a joiner or a selector changes the letter before it; elsewhere it is only invisible. */
const JOINING = [
  'Arabic',
  'Syriac',
  'Mandaic',
  'Nko',
  'Adlam',
  'Mongolian',
  'Phags_Pa',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Khmer',
  'Myanmar',
  'Tibetan',
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** Invisible characters that honest text needs in these places. */
const BELONGING = [
  `[\\u200C\\u200D](?<=[[${JOINING}]&&[\\p{L}\\p{M}]].)`,
  '[\\u180B-\\u180D\\u180F](?<=\\p{Script=Mongolian}.)',
  '\\u200D(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F].)(?=\\p{Extended_Pictographic})',
  '[\\uFE0E\\uFE0F](?<=[\\p{Extended_Pictographic}\\p{Sm}].)',
  '\\uFE0F(?<=[0-9#*].)(?=\\u20E3)',
  // The flags of England, Scotland and Wales are the only emoji with tag characters.
  `\\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(inTags).join('|')})\\u{E007F}`,
  '[\\u{E0100}-\\u{E01EF}](?<=\\p{Unified_Ideograph}.)',
].join('|');

/** Format characters that are visible: signs of the Quran and of Arabic numbers. */
const SEEN = '[\\n\\t\\u0600-\\u0605\\u06DD\\u0890\\u0891\\u08E2\\p{Extended_Pictographic}]';
const HIDDEN = `[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--${SEEN}]|\\p{M}(?<=\\p{M}{6})`;
const FIND = new RegExp(`\\r\\n|${BELONGING}|(${HIDDEN})`, 'gsv');
/** Text that needs no closer look. */
const ORDINARY = /^[\n\t\x20-\x7E\xA0-\xAC\xAE-\u02FF\u2010-\u2027\u20A0-\u20BF]*$/;

/**
 * Escapes invisible characters as `\u{..}`, as cards do. Unlike there, the ones that honest text needs stay: joiners of emoji and of
 * Persian or Indian words, selectors of emoji and ideographs, all spaces, and tabs.
 */
export function escapeInvisible(text: string): string {
  if (ORDINARY.test(text)) return text;
  return text.replace(FIND, (whole, hidden?: string) =>
    hidden === undefined ? whole : `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function inTags(letters: string): string {
  return String.fromCodePoint(...[...letters].map((letter) => 0xe0000 + (letter.codePointAt(0) ?? 0)));
}

/** A part of a line of Markdown: prose, or an inline code span with its backticks. */
interface InlinePiece {
  readonly isCode: boolean;
  readonly text: string;
}

/** An open code block: its marker as written, and the containers that each of its lines is in. */
interface Fence {
  readonly marker: string;
  readonly info: string;
  readonly indent: number;
  readonly quotes: number;
}

const QUOTES = /^(?: {0,3}> ?)+/;
const LIST_MARKERS = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+/;
const FENCE = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
/** A line that can be the second line of a table. */
const DELIMITER_ROW = /^(?=.*-)[\s>|:*+-]+$/;

/** Reads the opening line of a code block; `before` is the list marker on the same line. */
export function openedFence(line: string): { readonly fence: Fence; readonly before: string } | undefined {
  const quoted = QUOTES.exec(line)?.[0] ?? '';
  const quotes = quoted.split('>').length - 1;
  const marked = LIST_MARKERS.exec(line.slice(quoted.length))?.[0] ?? '';
  const found = FENCE.exec(line.slice(quoted.length + marked.length));
  if (found === null) return undefined;
  const [, indent = '', marker = '', info = ''] = found;
  const before = marked === '' ? '' : `${'> '.repeat(quotes)}${marked}`;
  return { fence: { marker, info: info.trim(), indent: marked.length + indent.length, quotes }, before };
}

/** Reads a line inside a code block: its code, or `closed` if it ends the block; `left` if it is not part of the block's quote. */
export function fencedLine(
  { marker, indent, quotes }: Fence,
  line: string,
): { readonly kind: 'code'; readonly code: string } | { readonly kind: 'closed' | 'left' } {
  const quoted = new RegExp(`^(?: {0,3}> ?){${quotes}}`).exec(line)?.[0];
  if (quoted === undefined) return { kind: 'left' };
  const inside = line.slice(quoted.length);
  const spaces = /^ */.exec(inside)?.[0].length ?? 0;
  const code = inside.slice(Math.min(spaces, indent));
  const mark = marker.charAt(0);
  const isClosing = new RegExp(`^ {0,3}${mark}{${marker.length},}[ \\t]*$`).test(code);
  return isClosing ? { kind: 'closed' } : { kind: 'code', code };
}

/** Tells whether a line is part of a table, whose cells end code spans: a delimiter row follows it, or came before it in its paragraph. */
function isTableLine(lines: readonly string[], index: number): boolean {
  if (DELIMITER_ROW.test(lines[index + 1] ?? '')) return true;
  for (let before = index; before >= 0; before -= 1) {
    const line = lines[before] ?? '';
    if (line.trim() === '') return false;
    if (DELIMITER_ROW.test(line)) return true;
  }
  return false;
}

/** Splits a line of prose at its code spans. A run of backticks without a partner on its line begins no span. */
export function inlinePieces(line: string, isTable: boolean): InlinePiece[] {
  if (!isTable) return spansIn(line);
  return (line.match(/(?:\\.|[^\\|]|\\$)+|\|/gs) ?? []).flatMap((cell) => spansIn(cell));
}

function spansIn(text: string): InlinePiece[] {
  const pieces: InlinePiece[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/\\[\\`]|`+/g)) {
    if (index < end || found.startsWith('\\')) continue;
    const start = index + found.length;
    const close = text.slice(start).search(new RegExp(`(?<!\`)\`{${found.length}}(?!\`)`));
    if (close === -1) continue;
    if (index > end) pieces.push({ isCode: false, text: text.slice(end, index) });
    const after = start + close + found.length;
    pieces.push({ isCode: true, text: text.slice(index, after) });
    end = after;
  }
  if (end < text.length) pieces.push({ isCode: false, text: text.slice(end) });
  return pieces;
}
