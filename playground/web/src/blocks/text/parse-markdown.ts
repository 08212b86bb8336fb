import { parseMarkdownLine } from './parse-markdown-line.ts';
import type { Alignment, ListItem, Passage } from './passages.ts';
import { unescapeText } from './slack-tokens.ts';

/** A line with more backticks after the first ones is a paragraph that begins with a code span. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)(.*)$/;
const DELIMITERS = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/;
const DEEPEST = 8;

interface Read {
  readonly passage: Passage;
  /** The first line that is not part of it. */
  readonly next: number;
}

/** Parses a `markdown` block; nesting beyond the depth limit stays text. */
export function parseMarkdown(text: string): Passage[] {
  return parseLines(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), 0);
}

function parseLines(lines: readonly string[], depth: number): Passage[] {
  const passages: Passage[] = [];
  let at = 0;
  while (at < lines.length) {
    if ((lines[at] ?? '').trim() === '') {
      at += 1;
      continue;
    }
    const { passage, next } = readSpecial(lines, at, depth) ?? readParagraph(lines, at, depth);
    passages.push(passage);
    at = next;
  }
  return passages;
}

function readSpecial(lines: readonly string[], at: number, depth: number): Read | undefined {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const content = parseMarkdownLine((heading[2] ?? '').replace(/ #+ *$/, '').trim());
    return { passage: { kind: 'heading', level: (heading[1] ?? '#').length, content }, next: at + 1 };
  }
  if (RULE.test(line)) return { passage: { kind: 'rule' }, next: at + 1 };
  if (isTableStart(lines, at)) return readTable(lines, at);
  if (depth >= DEEPEST) return undefined;
  if (QUOTE.test(line)) return readQuote(lines, at, depth);
  return ITEM.test(line) ? readList(lines, at, depth) : undefined;
}

function readFence(lines: readonly string[], at: number, fence: string): Read {
  const closing = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}[ \\t]*$`);
  const isEnd = (line: string) => closing.test(line);
  const found = lines.findIndex((line, index) => index > at && isEnd(line));
  const end = found === -1 ? lines.length : found;
  const text = unescapeText(lines.slice(at + 1, end).join('\n'));
  return { passage: { kind: 'preformatted', content: [{ kind: 'text', text }] }, next: end + 1 };
}

function readQuote(lines: readonly string[], at: number, depth: number): Read {
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next] ?? '')) next += 1;
  const inner = lines.slice(at, next).map((line) => line.replace(QUOTE, ''));
  return { passage: { kind: 'quote', content: parseLines(inner, depth + 1) }, next };
}

function readList(lines: readonly string[], at: number, depth: number): Read {
  const first = ITEM.exec(lines[at] ?? '');
  const indent = (first?.[1] ?? '').length;
  const marker = first?.[2] ?? '-';
  const isOrdered = /\d/.test(marker);
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next] ?? '');
    const belongs =
      item !== null && (item[1] ?? '').length <= indent + 1 && /\d/.test(item[2] ?? '') === isOrdered;
    if (item === null || !belongs || RULE.test(lines[next] ?? '')) break;
    const end = endOfItem(lines, next, indent);
    items.push(readItem(item[4] ?? '', lines.slice(next + 1, end), depth));
    next = end;
  }
  return {
    passage: { kind: 'list', isOrdered, start: isOrdered ? Number.parseInt(marker, 10) : 1, items },
    next,
  };
}

/** Returns the end of a list item, which includes indented lines and blank lines followed by more of the list. */
function endOfItem(lines: readonly string[], at: number, indent: number): number {
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    if (line.trim() === '') {
      let next = end;
      while (next < lines.length && (lines[next] ?? '').trim() === '') next += 1;
      const after = lines[next] ?? '';
      if (indentOf(after) > indent + 1) end = next;
      else return ITEM.test(after) && indentOf(after) <= indent + 1 ? next : end;
      continue;
    }
    const isInside = indentOf(line) > indent + 1;
    const isLazy = !ITEM.test(line) && !startsSomething(lines, end) && (lines[end - 1] ?? '').trim() !== '';
    if (!isInside && !isLazy) break;
    end += 1;
  }
  return end;
}

function readItem(first: string, rest: readonly string[], depth: number): ListItem {
  const box = /^\[([ xX])\] /.exec(first);
  const indents = rest.filter((line) => line.trim() !== '').map(indentOf);
  const dedent = Math.min(...indents.slice(0, 1), ...indents.filter((indent) => indent > 0));
  const inner = rest.map((line) =>
    line.slice(Math.min(indentOf(line), Number.isFinite(dedent) ? dedent : 0)),
  );
  const content = parseLines([first.slice(box?.[0].length ?? 0), ...inner], depth + 1);
  return { content, ...(box !== null && { isChecked: box[1] !== ' ' }) };
}

function isTableStart(lines: readonly string[], at: number): boolean {
  const head = lines[at] ?? '';
  const under = lines[at + 1] ?? '';
  return (
    head.includes('|') &&
    under.includes('-') &&
    DELIMITERS.test(under.replaceAll(' ', '')) &&
    cellsOf(head).length === cellsOf(under).length
  );
}

function readTable(lines: readonly string[], at: number): Read {
  const alignments = cellsOf(lines[at + 1] ?? '').map((cell): Alignment => {
    if (cell.endsWith(':')) return cell.startsWith(':') ? 'center' : 'right';
    return 'left';
  });
  let next = at + 2;
  while (next < lines.length && (lines[next] ?? '').includes('|')) next += 1;
  const read = (line: string) => cellsOf(line).map((cell) => parseMarkdownLine(cell));
  const rows = lines.slice(at + 2, next).map(read);
  return { passage: { kind: 'table', alignments, head: read(lines[at] ?? ''), rows }, next };
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function readParagraph(lines: readonly string[], at: number, depth: number): Read {
  let next = at + 1;
  while (next < lines.length && (lines[next] ?? '').trim() !== '' && !startsSomething(lines, next, depth))
    next += 1;
  const text = lines
    .slice(at, next)
    .map((line) => line.trim())
    .join('\n');
  return { passage: { kind: 'paragraph', content: parseMarkdownLine(text) }, next };
}

function startsSomething(lines: readonly string[], at: number, depth = 0): boolean {
  const line = lines[at] ?? '';
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || isTableStart(lines, at)) return true;
  return depth < DEEPEST && (QUOTE.test(line) || ITEM.test(line));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
