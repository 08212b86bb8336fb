import { escapeInvisible } from './escape-invisible.ts';
import { type Fence, fencedLine, inlinePieces, isTableLine, openedFence } from './markdown-code.ts';

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
 * Returns how much of a growing text can be sanitized already. An unclosed link or code span has to wait, and so has a line that may
 * become the start or the end of a code block, or part of a table.
 */
export function sanitizableLength(text: string): number {
  const lineStart = text.lastIndexOf('\n') + 1;
  const line = text.slice(lineStart);
  const before = text.slice(0, lineStart);
  if (openFenceIn(before) !== undefined) return lineStart;
  const waiting = lastLineThatWaits(before);
  if (waiting !== undefined) return waiting;
  if (/^[\s>\d.)*+-]*[`~]/.test(line) || line.includes('|') || /^[\s>|:*+-]*$/.test(line)) return lineStart;
  let settled = 0;
  for (const { isCode, text: piece } of inlinePieces(line, false)) {
    // A closing run at the very end may still grow.
    const isOpen = isCode && settled + piece.length === line.length;
    const stop = isOpen ? 0 : isCode ? -1 : piece.search(/!?\[|\\?`/);
    if (stop !== -1) return lineStart + settled + stop;
    settled += piece.length;
  }
  return lineStart + line.search(/\S*$/);
}

/** Returns the code block that is open at the end of a text. */
export function openFenceIn(text: string): Fence | undefined {
  let fence: Fence | undefined;
  for (const line of text.replace(/\n$/, '').split('\n')) {
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

/** Finds a last line whose code spans could be cells of a table, which only the next line tells. */
function lastLineThatWaits(complete: string): number | undefined {
  const start = complete.lastIndexOf('\n', complete.length - 2) + 1;
  const line = complete.slice(start, -1);
  return inlinePieces(line, false).some(({ isCode, text }) => isCode && text.includes('|'))
    ? start
    : undefined;
}

function sanitizeLine(line: string, isTable: boolean): string {
  return inlinePieces(line, isTable)
    .map(({ isCode, text }) => (isCode ? escapeCode(text) : sanitizeProse(text)))
    .join('');
}

function sanitizeProse(text: string): string {
  return (
    escapeCode(text)
      .replace(/\\?`/g, LONE_BACKTICK)
      .replace(/!?\[([^\]\n]*)\]\(\s*([^)\s]+)[^)\n]*\)/g, (_whole, label: string, target: string) =>
        label.trim() === '' || label === target ? target : `${label} (${target})`,
      )
      // Any other link, or definition of a link target, has a bracket right before one of these.
      .replace(/\](?=[(:])/g, '] ')
  );
}

function escapeCode(text: string): string {
  return escapeInvisible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function fenceLine({ marker, info, quotes }: Fence): string {
  return `${'> '.repeat(quotes)}${marker}${/^[\w+#.-]*/.exec(info)?.[0] ?? ''}`;
}

function quote({ quotes }: Fence): string {
  return '> '.repeat(quotes);
}
