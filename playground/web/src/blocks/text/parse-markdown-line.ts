import { matchMarks, type Token } from './match-marks.ts';
import type { Inline, InlineStyle } from './passages.ts';
import { isSafeUrl } from './resolve-link.ts';
import { readAngle, readWords, unescapeText } from './slack-tokens.ts';

const STYLES: Readonly<Record<string, InlineStyle>> = {
  '*': 'italic',
  _: 'italic',
  '**': 'bold',
  __: 'bold',
  '~~': 'strike',
};
const NEXT = /\\[!-/:-@[-`{-~]|`+|<([^<>\n]+)>|!?\[|https?:\/\/[^\s<>|`]*[^\s<>|`*_~]|\*+|_+|~+|\n/g;
const LINK_TARGET = /\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:[ \t]+"[^"\n]*")?\)/y;

/** Parses the inline content of a Markdown paragraph; unpaired marks, HTML and unsafe links stay text. */
export function parseMarkdownLine(text: string, { mayLink = true } = {}): Inline[] {
  const tokens: Token[] = [];
  const ticks = matchTicks(text);
  const closings = mayLink ? matchBrackets(text, ticks) : new Map<number, number>();
  let end = 0;
  const addText = (until: number) => {
    if (until > end) tokens.push(...readWords(text.slice(end, until), !mayLink).map(asPiece));
  };
  for (const match of text.matchAll(NEXT)) {
    if (match.index < end) continue;
    const found = read(text, match, closings, ticks);
    if (found === undefined) continue;
    addText(match.index);
    tokens.push(...found.tokens);
    end = found.end;
  }
  addText(text.length);
  return matchMarks(tokens);
}

interface Found {
  readonly tokens: readonly Token[];
  readonly end: number;
}

function read(
  text: string,
  match: RegExpExecArray,
  closings: ReadonlyMap<number, number>,
  ticks: ReadonlyMap<number, number>,
): Found | undefined {
  const [found, angle] = match;
  const at = match.index;
  const after = at + found.length;
  const piece = (inline: Inline, end = after): Found => ({ tokens: [asPiece(inline)], end });
  if (found === '\n') return piece({ kind: 'break' });
  if (found.startsWith('\\')) return piece({ kind: 'text', text: found.slice(1) });
  if (found.startsWith('`')) {
    const close = ticks.get(at);
    if (close === undefined) return piece({ kind: 'text', text: found });
    const code = unescapeText(text.slice(after, close)).replaceAll('\n', ' ');
    const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
    return piece({ kind: 'code', text: isPadded ? code.slice(1, -1) : code }, close + found.length);
  }
  if (angle !== undefined) {
    const inline = readAngle(angle);
    return inline === undefined ? undefined : piece(inline);
  }
  if (found.endsWith('[')) return readLink(text, after, closings.get(after - 1));
  return readMarks(text, found, at);
}

function readLink(text: string, from: number, close: number | undefined): Found | undefined {
  if (close === undefined) return undefined;
  LINK_TARGET.lastIndex = close + 1;
  const target = LINK_TARGET.exec(text);
  const url = unescapeText(target?.[1] ?? '');
  if (target === null || !isSafeUrl(url)) return undefined;
  // An image is shown as a link: nothing is loaded from other sites.
  const label = parseMarkdownLine(text.slice(from, close), { mayLink: false });
  const content: Inline[] = label.length === 0 ? [{ kind: 'text', text: url }] : label;
  return { tokens: [asPiece({ kind: 'link', url, content })], end: close + 1 + target[0].length };
}

function readMarks(text: string, found: string, at: number): Found | undefined {
  const end = at + found.length;
  const before = text[at - 1] ?? ' ';
  const after = text[end] ?? ' ';
  const isUnderscore = found.startsWith('_');
  const canOpen = !isSpace(after) && (isUnderscore ? !isWord(before) : isWord(after) || !isWord(before));
  const canClose = !isSpace(before) && (isUnderscore ? !isWord(after) : isWord(before) || !isWord(after));
  const single = found.charAt(0);
  const double = `${single}${single}`;
  const marks = found.length === 3 ? (canOpen ? [double, single] : [single, double]) : [found];
  const tokens = marks.map((mark): Token => {
    const style = STYLES[mark];
    if (style === undefined) return asPiece({ kind: 'text', text: mark });
    return { kind: 'mark', mark, style, canOpen, canClose };
  });
  return { tokens, end };
}

/** Maps each opening bracket to its closing one. Brackets in code are code. */
function matchBrackets(text: string, ticks: ReadonlyMap<number, number>): Map<number, number> {
  const closings = new Map<number, number>();
  const open: number[] = [];
  let codeEnd = 0;
  for (const match of text.matchAll(/\\.|[[\]]|`+/g)) {
    if (match.index < codeEnd) continue;
    const close = match[0].startsWith('`') ? ticks.get(match.index) : undefined;
    if (close !== undefined) codeEnd = close + match[0].length;
    if (match[0] === '[') open.push(match.index);
    const last = match[0] === ']' ? open.pop() : undefined;
    if (last !== undefined) closings.set(last, match.index);
  }
  return closings;
}

/** Maps each run of backticks to the next one of the same length. */
function matchTicks(text: string): Map<number, number> {
  const closings = new Map<number, number>();
  const last = new Map<number, number>();
  for (const match of text.matchAll(/`+/g)) {
    const before = last.get(match[0].length);
    if (before !== undefined) closings.set(before, match.index);
    last.set(match[0].length, match.index);
  }
  return closings;
}

function asPiece(piece: Inline): Token {
  return { kind: 'piece', piece };
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}
