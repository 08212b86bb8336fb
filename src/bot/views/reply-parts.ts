import type { RichTextElement, TableBlock } from '@slack/types';
import { limits } from '../slack/limits.ts';
import { fencedLine, inlinePieces, openedFence } from './sanitize-markdown.ts';

/** A part of a reply: Markdown, or a table of it as Slack's block, with its Markdown for where Slack takes no block. */
export interface ReplyPart {
  readonly text: string;
  readonly table?: TableBlock;
}

/**
 * Takes sanitized Markdown apart at its tables, from a place on that is not inside one. A table that Slack would refuse stays Markdown. The
 * parts of a text that grows stay the same, because the room for tables is counted from its start.
 */
export function replyParts(markdown: string, from = 0): ReplyPart[] {
  const parts: ReplyPart[] = [];
  let room: number = limits.tableCharacters;
  let done = from;
  const addText = (until: number): void => {
    const text = markdown.slice(done, until);
    if (text !== '') parts.push({ text });
    done = until;
  };
  for (const { start, end, lines } of tablesIn(markdown)) {
    const table = tableOf(lines, room);
    if (table === undefined) continue;
    room -= table.characters;
    if (start < from) continue;
    addText(start);
    parts.push({ text: markdown.slice(start, end), table: table.block });
    done = end;
  }
  addText(markdown.length);
  return parts;
}

const DELIMITERS = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;

/** Finds the tables outside code: a line of headings, a line of dashes, and lines with as many cells or fewer. */
function* tablesIn(markdown: string) {
  const lines = markdown.split('\n');
  let fence: ReturnType<typeof openedFence>;
  let offset = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const start = offset;
    offset += line.length + 1;
    if (fence !== undefined) {
      if (fencedLine(fence.fence, line).kind !== 'code') fence = undefined;
      continue;
    }
    fence = openedFence(line);
    if (fence !== undefined || !startsTable(line, lines[at + 1])) continue;
    let next = at + 2;
    while (next < lines.length && isRow(lines[next] ?? '')) next += 1;
    const rows = lines.slice(at, next);
    const end = start + rows.join('\n').length + (next < lines.length ? 1 : 0);
    yield { start, end, lines: rows };
    offset = end;
    at = next - 1;
  }
}

function isRow(line: string): boolean {
  return line.includes('|') && openedFence(line) === undefined;
}

function startsTable(line: string, next = ''): boolean {
  const under = next.trim();
  if (!/^ {0,3}[^\s>]/.test(line) || !line.includes('|') || !under.includes('|')) return false;
  return DELIMITERS.test(under) && cellsOf(line).length === cellsOf(under).length;
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function tableOf(
  [head = '', under = '', ...rows]: readonly string[],
  room: number,
): { readonly block: TableBlock; readonly characters: number } | undefined {
  const columns = cellsOf(head).length;
  if (columns > limits.tableColumns || rows.length + 1 > limits.tableRows) return undefined;
  const cells = [head, ...rows].map((row) => {
    const given = cellsOf(row);
    return Array.from({ length: columns }, (_, column) => given[column] ?? '');
  });
  const characters = cells.flat().reduce((sum, cell) => sum + Math.max(cell.length, 1), 0);
  if (characters > room) return undefined;
  const block: TableBlock = {
    type: 'table',
    rows: cells.map((row, index) => row.map((cell) => toCell(cell, index === 0))),
    column_settings: cellsOf(under).map((dashes) => ({ align: alignmentOf(dashes), is_wrapped: true })),
  };
  return { block, characters };
}

function alignmentOf(dashes: string): 'left' | 'center' | 'right' {
  if (!dashes.endsWith(':')) return 'left';
  return dashes.startsWith(':') ? 'center' : 'right';
}

type Cell = TableBlock['rows'][number][number];

function toCell(markdown: string, isHead: boolean): Cell {
  const elements = elementsOf(markdown).map((element) =>
    isHead && element.type === 'text' ? { ...element, style: { ...element.style, bold: true } } : element,
  );
  const isPlain = elements.every((element) => element.type === 'text' && element.style === undefined);
  // Slack refuses an empty text.
  if (isPlain) return { type: 'raw_text', text: plainOf(markdown) || ' ' };
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

type Styles = { bold?: boolean; italic?: boolean; strike?: boolean; code?: boolean };

const INLINE =
  /((?:https?:\/\/|mailto:)[^\s<>]*[^\s<>.,;:!?)\]"'*_~])|\*\*(?=\S)(.+?)(?<=\S)\*\*|~~(.+?)~~|\*(?=\S)([^*]+?)(?<=\S)\*|(?<![\p{L}\p{N}])_([^_]+)_(?![\p{L}\p{N}])/gu;

/** Reads the styles, code and addresses of a cell. Its words are text of Slack's, in which nothing comes alive; an address is shown as it is. */
function elementsOf(markdown: string): RichTextElement[] {
  return inlinePieces(markdown, false).flatMap(({ isCode, text }) => {
    if (isCode) return textElement(text.replace(/^(`+)([\s\S]*)\1$/, '$2'), { code: true });
    const found: RichTextElement[] = [];
    let end = 0;
    for (const match of text.matchAll(INLINE)) {
      const [whole, url, bold, strike, star, underscore] = match;
      found.push(...textElement(plainOf(text.slice(end, match.index))));
      if (url !== undefined) found.push({ type: 'link', url });
      else if (bold !== undefined) found.push(...textElement(plainOf(bold), { bold: true }));
      else if (strike !== undefined) found.push(...textElement(plainOf(strike), { strike: true }));
      else found.push(...textElement(plainOf(star ?? underscore ?? ''), { italic: true }));
      end = match.index + whole.length;
    }
    return [...found, ...textElement(plainOf(text.slice(end)))];
  });
}

function textElement(text: string, style?: Styles): RichTextElement[] {
  const shown = style?.code === true ? withoutEntities(text) : text;
  return shown === '' ? [] : [{ type: 'text', text: shown, ...(style !== undefined && { style }) }];
}

/** Undoes what Markdown needs and a text of Slack's does not: its escapes, and those of the sanitizing. */
function plainOf(markdown: string): string {
  return withoutEntities(markdown.replace(/\\([!-/:-@[-`{-~])/g, '$1'));
}

function withoutEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
