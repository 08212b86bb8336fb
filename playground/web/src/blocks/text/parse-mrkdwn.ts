import { matchMarks, type Token } from './match-marks.ts';
import type { Inline, InlineStyle, Passage } from './passages.ts';
import { readAngle, readWords, unescapeText } from './slack-tokens.ts';

const STYLES: Readonly<Record<string, InlineStyle>> = { '*': 'bold', _: 'italic', '~': 'strike' };
const QUOTE = /^(?:>|&gt;) ?/;
const LONG_QUOTE = /^(?:>|&gt;){3} ?/;

/** Parses Slack's mrkdwn; unclosed or unknown markup stays text. */
export function parseMrkdwn(text: string, { isVerbatim = false } = {}): Passage[] {
  const passages: Passage[] = [];
  const parts = splitFences(text);
  for (const [index, part] of parts.entries()) {
    if (part.isFenced) {
      const content = unescapeText(part.text).replace(/^\n/, '').replace(/\n$/, '');
      passages.push({ kind: 'preformatted', content: [{ kind: 'text', text: content }] });
      continue;
    }
    // The line breaks around a code block belong to the block.
    const start = index === 0 ? part.text : part.text.replace(/^\n/, '');
    const inner = index === parts.length - 1 ? start : start.replace(/\n$/, '');
    if (inner !== '') passages.push(...parseLines(inner.split('\n'), isVerbatim));
  }
  return passages;
}

function splitFences(text: string): { readonly isFenced: boolean; readonly text: string }[] {
  const parts = text.split('```');
  // An odd fence at the end closes nothing.
  if (parts.length % 2 === 0) parts.splice(-2, 2, parts.slice(-2).join('```'));
  return parts
    .map((part, index) => {
      const isFenced = index % 2 === 1;
      return isFenced && part.trim() === ''
        ? { isFenced: false, text: `\`\`\`${part}\`\`\`` }
        : { isFenced, text: part };
    })
    .filter((part) => part.text !== '');
}

function parseLines(lines: readonly string[], isVerbatim: boolean): Passage[] {
  const passages: Passage[] = [];
  let from = 0;
  while (from < lines.length) {
    const first = lines[from] ?? '';
    if (LONG_QUOTE.test(first)) {
      const quoted = [first.replace(LONG_QUOTE, ''), ...lines.slice(from + 1)];
      return [...passages, { kind: 'quote', content: [paragraph(quoted, isVerbatim)] }];
    }
    const isQuote = QUOTE.test(first);
    let to = from + 1;
    while (to < lines.length && QUOTE.test(lines[to] ?? '') === isQuote) to += 1;
    const run = lines.slice(from, to);
    passages.push(
      isQuote
        ? {
            kind: 'quote',
            content: [
              paragraph(
                run.map((line) => line.replace(QUOTE, '')),
                isVerbatim,
              ),
            ],
          }
        : paragraph(run, isVerbatim),
    );
    from = to;
  }
  return passages;
}

function paragraph(lines: readonly string[], isVerbatim: boolean): Passage {
  const content = lines.flatMap((line, index): Inline[] => [
    ...(index === 0 ? [] : [{ kind: 'break' } as const]),
    ...matchMarks(tokenize(line, isVerbatim)),
  ]);
  return { kind: 'paragraph', content };
}

function tokenize(line: string, isVerbatim: boolean): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  const addText = (until: number) => {
    if (until > end) tokens.push(...readWords(line.slice(end, until), isVerbatim).map(asPiece));
  };
  for (const match of line.matchAll(/<([^<>]+)>|`([^`]+)`|https?:\/\/[^\s<>|`]*[^\s<>|`*_~]|[*_~]/g)) {
    const [found, angle, code] = match;
    const token = tokenOf(line, match.index, found, angle, code);
    if (token === undefined) continue;
    addText(match.index);
    tokens.push(token);
    end = match.index + found.length;
  }
  addText(line.length);
  return tokens;
}

function tokenOf(
  line: string,
  at: number,
  found: string,
  angle: string | undefined,
  code: string | undefined,
): Token | undefined {
  if (angle !== undefined) {
    const piece = readAngle(angle);
    return piece === undefined ? undefined : { kind: 'piece', piece };
  }
  if (code !== undefined) return asPiece({ kind: 'code', text: unescapeText(code) });
  const style = STYLES[found];
  if (style === undefined) return undefined;
  const before = line[at - 1] ?? ' ';
  const after = line[at + 1] ?? ' ';
  if (before === found || after === found) return asPiece({ kind: 'text', text: found });
  return {
    kind: 'mark',
    mark: found,
    style,
    canOpen: !isWord(before) && !isSpace(after),
    canClose: !isSpace(before) && !isWord(after),
  };
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
