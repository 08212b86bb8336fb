/** A part of a line of Markdown: prose, or an inline code span with its backticks. */
export interface InlinePiece {
  readonly isCode: boolean;
  readonly text: string;
}

/** An open code block: its marker as written, and the containers that each of its lines is in. */
export interface Fence {
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
export function isTableLine(lines: readonly string[], index: number): boolean {
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
  return (line.match(/(?:\\.|[^\\|]|\\$)+|\|/g) ?? []).flatMap((cell) => spansIn(cell));
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
