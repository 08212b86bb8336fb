import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';

/** A labelled text that may span several pages. */
export interface Piece {
  readonly label: string;
  readonly text: string;
}

const MOST_PIECES = 30;

/**
 * Splits texts into pages, in order and without losing a character: the parts of one text, joined, are that text. There is always a
 * page, and an empty text is left out.
 */
export function paginate(pieces: readonly Piece[]): Piece[][] {
  const parts = pieces.flatMap(({ label, text }) =>
    divide(text, limits.preformattedText).map((part, index) => ({
      label: index === 0 ? label : modalTexts.continued(label),
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
/** The longest emoji or letter with its marks, as texts are shown. */
const LONGEST_CHARACTER = 64;

/** Splits after a line end if there is one, and never within a visible character. */
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
