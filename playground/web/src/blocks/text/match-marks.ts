import type { Inline, InlineStyle } from './passages.ts';

/** Tokens of a line before its marks are matched: finished pieces, and marks that may open or close a style. */
export type Token =
  | { readonly kind: 'piece'; readonly piece: Inline }
  | {
      readonly kind: 'mark';
      readonly mark: string;
      readonly style: InlineStyle;
      readonly canOpen: boolean;
      readonly canClose: boolean;
    };

/**
 * Turns pairs of marks into styles; an unpaired mark stays text. No style contains itself, so the depth is bounded by
 * the number of marks and the time by the length of the line, for any input.
 */
export function matchMarks(tokens: readonly Token[], within: readonly string[] = []): Inline[] {
  const pieces: Inline[] = [];
  const unpaired = new Set(within);
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    if (token.kind === 'piece') {
      pieces.push(token.piece);
      continue;
    }
    const end = token.canOpen && !unpaired.has(token.mark) ? findClosing(tokens, index) : undefined;
    if (end === undefined) {
      // Without a partner for this mark, there is none for the same mark further on.
      if (token.canOpen) unpaired.add(token.mark);
      pieces.push({ kind: 'text', text: token.mark });
      continue;
    }
    const content = matchMarks(tokens.slice(index + 1, end), [...within, token.mark]);
    pieces.push({ kind: 'styled', style: token.style, content });
    index = end;
  }
  return joinText(pieces);
}

function findClosing(tokens: readonly Token[], open: number): number | undefined {
  const opening = tokens[open];
  for (let index = open + 1; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind === 'mark' && token.canClose && opening?.kind === 'mark' && token.mark === opening.mark)
      return index;
  }
  return undefined;
}

function joinText(pieces: readonly Inline[]): Inline[] {
  const joined: Inline[] = [];
  let run: string[] = [];
  const endRun = () => {
    if (run.length > 0) joined.push({ kind: 'text', text: run.join('') });
    run = [];
  };
  for (const piece of pieces) {
    if (piece.kind === 'text') run.push(piece.text);
    else {
      endRun();
      joined.push(piece);
    }
  }
  endRun();
  return joined;
}
