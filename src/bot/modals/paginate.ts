import { limits } from '../slack/limits.ts';

/** A labelled text that is too long to be sure of its place. */
export interface Piece {
  readonly label: string;
  readonly text: string;
}

const MOST_PIECES = 30;

/**
 * Spreads texts over pages, in order and without losing a character: the parts of one text, put together, are that text.
 * There is always a page, and an empty text has no place on it.
 */
export function paginate(pieces: readonly Piece[]): Piece[][] {
  const parts = pieces.flatMap(({ label, text }) =>
    divide(text, limits.preformattedText).map((part, index) => ({
      label: index === 0 ? label : `${label} (continued)`,
      text: part,
    })),
  );
  const pages: Piece[][] = [];
  let room = 0;
  for (const part of parts) {
    const page = pages.at(-1);
    if (page === undefined || part.text.length > room || page.length === MOST_PIECES) {
      pages.push([part]);
      room = limits.detailsPageCharacters - part.text.length;
      continue;
    }
    page.push(part);
    room -= part.text.length;
  }
  return pages.length === 0 ? [[]] : pages;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** No emoji and no letter with its marks is longer, as texts are shown. */
const LONGEST_CHARACTER = 64;

/** Divides after a line's end where there is one, and never within what is seen as one character. */
export function divide(text: string, length: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > length) {
    const lineEnd = rest.lastIndexOf('\n', length - 1) + 1;
    const end = lineEnd > 0 ? lineEnd : characterStart(rest.slice(0, length + LONGEST_CHARACTER), length);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === '' ? parts : [...parts, rest];
}

function characterStart(text: string, at: number): number {
  const start = graphemes.segment(text).containing(at)?.index ?? at;
  return start === 0 ? at : start;
}
